"""A hub of data sets and models on the loopback address that speaks the Hub's HTTP protocol, kept in memory.

    with HubServer(users={"hf_test": "ada"}) as hub:
        ...  # HF_ENDPOINT=hub.url HF_TOKEN=hf_test HF_HUB_DISABLE_XET=1

Spoken is what `huggingface_hub` and `datasets` ask of it: repositories, trees, files with ranges, uploads (plain ones
in the commit, large ones through LFS), commits, pull requests. `fault` says which requests fail, and how.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import inspect
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

__all__ = ["Commit", "HubServer", "Repository"]

Handler = Callable[[web.Request], Any]
_KINDS = {"datasets": "dataset", "models": "model"}
_DATE = "2026-01-02T03:04:05.000Z"


@dataclass(frozen=True)
class Commit:
    """One state of a repository."""

    oid: str
    title: str
    files: Mapping[str, bytes]


@dataclass
class Repository:
    """A repository: its commits by branch or pull request, newest last."""

    name: str
    kind: str = "dataset"
    private: bool = False
    gated: bool = False
    branches: dict[str, list[Commit]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.branches:
            self.commit("main", "initial commit", {".gitattributes": b""})

    @property
    def commits(self) -> list[Commit]:
        """Those of main."""
        return self.branches["main"]

    @property
    def files(self) -> Mapping[str, bytes]:
        """What stands on main now."""
        return self.commits[-1].files

    def commit(self, branch: str, title: str, files: Mapping[str, bytes]) -> Commit:
        """Make a commit whose whole content is `files`."""
        history = self.branches.setdefault(branch, [])
        text = "\0".join(
            [self.name, branch, str(len(history)), *(f"{p}:{_sha256(c)}" for p, c in sorted(files.items()))]
        )
        made = Commit(hashlib.sha1(text.encode()).hexdigest(), title, dict(files))
        history.append(made)
        return made

    def at(self, revision: str) -> Commit | None:
        """Return the commit that a branch or an oid names."""
        if revision in self.branches:
            return self.branches[revision][-1]
        return next((c for history in self.branches.values() for c in history if c.oid == revision), None)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _blob_oid(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _is_large(path: str) -> bool:
    return path.endswith((".parquet", ".zip"))


class HubServer:
    """The server, a context manager. `fault(request)` may give (or await) a response in place of the real one."""

    def __init__(self, users: Mapping[str, str], fault: Callable[[web.Request], Any] | None = None):
        self.users = dict(users)
        self.fault = fault
        self.repositories: dict[tuple[str, str], Repository] = {}
        self.large: dict[str, bytes] = {}
        self.log: list[tuple[str, str]] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.url = ""

    def add(self, name: str, files: Mapping[str, bytes], kind: str = "dataset", **about: Any) -> Repository:
        """Put a repository with one commit of these files."""
        repository = self.repositories[kind, name] = Repository(name, kind, **about)
        repository.commit("main", "files", {**repository.files, **files})
        return repository

    def dataset(self, name: str) -> Repository:
        """Return a repository of data."""
        return self.repositories["dataset", name]

    def asked(self, method: str, part: str) -> int:
        """How many requests of this method had `part` in their path."""
        return sum(one == method and part in path for one, path in self.log)

    # --- life ----------------------------------------------------------------------------------------

    def __enter__(self) -> HubServer:
        self._thread.start()
        self.url = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(self, *exc: object) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    async def _start(self) -> str:
        app = web.Application(client_max_size=1 << 30, middlewares=[self._middle])
        repo = "{owner}/{name}"
        for kind in _KINDS:
            api = f"/api/{kind}/{repo}"
            app.router.add_get(api, self._info)
            app.router.add_get(api + "/revision/{revision:.+}", self._info)
            app.router.add_get(api + "/tree/{revision}", self._tree)
            app.router.add_get(api + "/tree/{revision}/{path:.*}", self._tree)
            app.router.add_post(api + "/paths-info/{revision:.+}", self._paths_info)
            app.router.add_post(api + "/preupload/{revision:.+}", self._preupload)
            app.router.add_post(api + "/commit/{revision:.+}", self._commit)
            app.router.add_get(api + "/refs", self._refs)
            app.router.add_get(api + "/discussions", self._discussions)
            prefix = "/datasets" if kind == "datasets" else ""
            app.router.add_get(f"{prefix}/{repo}/resolve/{{revision}}/{{path:.+}}", self._resolve)
            app.router.add_post(f"{prefix}/{repo}.git/info/lfs/objects/batch", self._batch)
        app.router.add_get("/api/whoami-v2", self._whoami)
        app.router.add_post("/api/repos/create", self._create)
        app.router.add_post("/api/validate-yaml", self._validate_yaml)
        app.router.add_put("/lfs/{oid}", self._take_large)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        return f"http://127.0.0.1:{port}"

    @web.middleware
    async def _middle(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self.log.append((request.method, request.path))
        planned = self.fault(request) if self.fault is not None else None
        if inspect.isawaitable(planned):
            planned = await planned
        if planned is not None:
            return planned
        response: web.StreamResponse = await handler(request)
        return response

    # --- who and what --------------------------------------------------------------------------------

    def _user(self, request: web.Request) -> str | None:
        return self.users.get(request.headers.get("Authorization", "").removeprefix("Bearer "))

    def _found(self, request: web.Request) -> Repository:
        kind = "dataset" if "/datasets/" in request.path else "model"
        name = f"{request.match_info['owner']}/{request.match_info['name']}"
        found = self.repositories.get((kind, name))
        user = self._user(request)
        if found is None or (found.private and user != name.split("/", 1)[0]):
            code = 404 if user else 401
            raise _refusal(code, "RepoNotFound", "Repository not found")
        return found

    def _state(self, request: web.Request) -> tuple[Repository, Commit]:
        repository = self._found(request)
        commit = repository.at(request.match_info.get("revision", "main"))
        if commit is None:
            raise _refusal(404, "RevisionNotFound", "Invalid rev id")
        return repository, commit

    async def _whoami(self, request: web.Request) -> web.Response:
        user = self._user(request)
        if user is None:
            raise _refusal(401, "", "Invalid credentials in Authorization header")
        return web.json_response(
            {"type": "user", "name": user, "fullname": user, "orgs": [], "auth": {"type": "access_token"}}
        )

    async def _create(self, request: web.Request) -> web.Response:
        body, user = await request.json(), self._user(request)
        if user is None:
            raise _refusal(401, "", "Invalid username or password.")
        kind, owner = body.get("type", "model"), body.get("organization") or user
        name = f"{owner}/{body['name']}"
        url = f"{self.url}/{'datasets/' if kind == 'dataset' else ''}{name}"
        if owner != user:
            raise _refusal(403, "", f"You don't have the rights to create a {kind} under the namespace {owner!r}")
        if (kind, name) in self.repositories:
            return web.json_response({"error": "You already created this repo", "url": url}, status=409)
        private = bool(body.get("private")) or body.get("visibility") == "private"
        self.repositories[kind, name] = Repository(name, kind, private=private)
        return web.json_response({"url": url, "name": name, "id": name})

    async def _info(self, request: web.Request) -> web.Response:
        repository, commit = self._state(request)
        siblings = [{"rfilename": path} for path in sorted(commit.files)]
        return web.json_response(
            {
                "id": repository.name,
                "sha": commit.oid,
                "private": repository.private,
                "gated": "auto" if repository.gated else False,
                "disabled": False,
                "lastModified": _DATE,
                "createdAt": _DATE,
                "tags": [],
                "downloads": 0,
                "likes": 0,
                "siblings": siblings,
            }
        )

    async def _refs(self, request: web.Request) -> web.Response:
        repository = self._found(request)
        heads = [
            {"name": name, "ref": f"refs/heads/{name}", "targetCommit": history[-1].oid}
            for name, history in repository.branches.items()
        ]
        return web.json_response({"branches": heads, "tags": [], "converts": [], "pullRequests": []})

    async def _discussions(self, request: web.Request) -> web.Response:
        repository = self._found(request)
        listed = [
            {
                "num": number,
                "title": title,
                "status": "open",
                "isPullRequest": True,
                "createdAt": _DATE,
                "author": {"name": "ada"},
                "repo": {"name": repository.name, "type": repository.kind},
            }
            for number, title in enumerate(repository.requests, start=1)
        ]
        return web.json_response({"discussions": listed, "count": len(listed), "start": 0})

    # --- reading -------------------------------------------------------------------------------------

    async def _tree(self, request: web.Request) -> web.Response:
        _, commit = self._state(request)
        under = request.match_info.get("path", "").strip("/")
        recursive = request.query.get("recursive", "false").lower() == "true"
        entries: dict[str, dict[str, Any]] = {}
        for path, content in sorted(commit.files.items()):
            if under and not path.startswith(under + "/"):
                continue
            rest = path[len(under) + 1 :] if under else path
            parts = rest.split("/")
            for depth in range(1, len(parts)) if recursive else range(1, min(2, len(parts))):
                folder = "/".join(filter(None, [under, *parts[:depth]]))
                entries[folder] = {"type": "directory", "path": folder, "oid": "0" * 40, "size": 0}
            if recursive or len(parts) == 1:
                entries[path] = _entry(path, content)
        if under and not entries:
            raise _refusal(404, "EntryNotFound", f"{under} does not exist")
        return web.json_response(list(entries.values()))

    async def _paths_info(self, request: web.Request) -> web.Response:
        _, commit = self._state(request)
        body = await (request.json() if "json" in request.content_type else request.post())
        asked = body["paths"] if isinstance(body, dict) else body.getall("paths")
        found = []
        for path in [asked] if isinstance(asked, str) else asked:
            if path in commit.files:
                found.append(_entry(path, commit.files[path]))
            elif any(one.startswith(path.rstrip("/") + "/") for one in commit.files):
                found.append({"type": "directory", "path": path.rstrip("/"), "oid": "0" * 40, "size": 0})
        return web.json_response(found)

    async def _resolve(self, request: web.Request) -> web.StreamResponse:
        repository, commit = self._state(request)
        if repository.gated and self._user(request) is None:
            raise _refusal(401, "GatedRepo", "Access to this repository is restricted: you must accept its terms.")
        content = commit.files.get(request.match_info["path"])
        if content is None:
            raise _refusal(404, "EntryNotFound", "Entry not found", {"X-Repo-Commit": commit.oid})
        headers = {
            "X-Repo-Commit": commit.oid,
            "ETag": f'"{_entry(request.match_info["path"], content)["oid"]}"',
            "Accept-Ranges": "bytes",
        }
        wanted = request.http_range
        if "Range" in request.headers:
            start, stop = wanted.start or 0, min(wanted.stop or len(content), len(content))
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{len(content)}"
            return web.Response(body=content[start:stop], status=206, headers=headers)
        return web.Response(body=content, headers=headers)

    # --- writing -------------------------------------------------------------------------------------

    async def _validate_yaml(self, request: web.Request) -> web.Response:
        await request.read()
        return web.json_response({"errors": [], "warnings": []})

    async def _preupload(self, request: web.Request) -> web.Response:
        _, commit = self._state(request)
        self._need_writer(request, request.query.get("create_pr") == "1")
        answer = []
        for file in (await request.json())["files"]:
            path = file["path"]
            large = _is_large(path)
            one = {"path": path, "uploadMode": "lfs" if large else "regular", "shouldIgnore": False}
            if path in commit.files:
                content = commit.files[path]
                one["oid"] = _sha256(content) if large else _blob_oid(content)
            answer.append(one)
        return web.json_response({"files": answer, "commitOid": commit.oid})

    async def _batch(self, request: web.Request) -> web.Response:
        self._need_writer(request)
        objects = []
        for one in (await request.json())["objects"]:
            found = {"oid": one["oid"], "size": one["size"]}
            if one["oid"] not in self.large:
                found["actions"] = {"upload": {"href": f"{self.url}/lfs/{one['oid']}"}}
            objects.append(found)
        return web.json_response({"transfer": "basic", "objects": objects})

    async def _take_large(self, request: web.Request) -> web.Response:
        content = await request.read()
        if _sha256(content) != request.match_info["oid"]:
            raise _refusal(400, "", "sha256 does not match")
        self.large[request.match_info["oid"]] = content
        return web.Response()

    async def _commit(self, request: web.Request) -> web.Response:
        repository, commit = self._state(request)
        self._need_writer(request, request.query.get("create_pr") == "1")
        files, title = dict(commit.files), ""
        for line in (await request.read()).decode().splitlines():
            item = json.loads(line)
            value = item["value"]
            if item["key"] == "header":
                title = value["summary"]
                if value.get("parentCommit") not in (None, commit.oid):
                    raise _refusal(412, "", "A commit has happened since. Please refresh and try again.")
            elif item["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif item["key"] == "lfsFile":
                files[value["path"]] = self.large[value["oid"]]
            elif item["key"] == "deletedFile":
                files.pop(value["path"])
            elif item["key"] == "deletedFolder":
                files = {path: kept for path, kept in files.items() if not path.startswith(value["path"])}
        branch = "main"
        answer: dict[str, Any] = {}
        if request.query.get("create_pr") == "1":
            repository.requests.append(title)
            branch = f"refs/pr/{len(repository.requests)}"
            answer["pullRequestUrl"] = f"{self.url}/{repository.name}/discussions/{len(repository.requests)}"
        made = repository.commit(branch, title, files)
        url = f"{self.url}/{repository.name}/commit/{made.oid}"
        return web.json_response({"success": True, "commitOid": made.oid, "commitUrl": url, **answer})

    def _need_writer(self, request: web.Request, anyone: bool = False) -> None:
        user = self._user(request)
        if user is None:
            raise _refusal(401, "", "Invalid username or password.")
        if user != request.match_info["owner"] and not anyone:
            raise _refusal(403, "", "Forbidden: pass create_pr=1 to create a pull request instead.")


def _entry(path: str, content: bytes) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "file", "path": path, "size": len(content), "oid": _blob_oid(content)}
    if _is_large(path):
        entry |= {"oid": _sha256(content), "lfs": {"oid": _sha256(content), "size": len(content), "pointerSize": 130}}
    return entry


def _refusal(code: int, name: str, text: str, headers: Mapping[str, str] | None = None) -> web.HTTPException:
    kind = {400: web.HTTPBadRequest, 401: web.HTTPUnauthorized, 403: web.HTTPForbidden, 404: web.HTTPNotFound}
    found = kind.get(code, web.HTTPPreconditionFailed)
    all_headers = {"X-Error-Message": text, **({"X-Error-Code": name} if name else {}), **(headers or {})}
    return found(text=json.dumps({"error": text}), content_type="application/json", headers=all_headers)
