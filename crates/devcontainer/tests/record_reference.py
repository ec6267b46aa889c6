#!/usr/bin/env python3
"""Records what the reference CLI makes of the fixtures.

    npm install --prefix DIR @devcontainers/cli@0.89
    tests/record_reference.py DIR/node_modules/@devcontainers/cli/devcontainer.js [case...]

Each folder of tests/fixtures is a project with a case.json beside it, which may have: `env` (what localEnv sees),
`images` (what `docker inspect` says of them: User, Env, and `metadata` or `label`), `args` (more arguments),
`folder` (the project, below the folder of the case), `git` (makes the case a repository), `differs` (for the test).
The answers go to expected.json: plain and merged configuration, the order of Features, and of a build the label, the
users and the variables of scripts. No container engine is needed: a stand-in answers for it. Features in a registry are
those of tests/fixtures/registry.json, served on localhost.
"""

import concurrent.futures
import hashlib
import http.server
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading

FIXTURES = pathlib.Path(__file__).parent / "fixtures"
PORT = 5055
MANIFEST = "application/vnd.oci.image.manifest.v1+json"

DOCKER = """#!/usr/bin/env python3
import json, os, sys
args = sys.argv[1:]
if args[:3] == ["inspect", "--type", "image"]:
    image = json.loads(os.environ["STAND_IN_IMAGES"]).get(args[-1])
    if image is None:
        sys.exit("no such image")
    labels = {}
    if "metadata" in image:
        labels["devcontainer.metadata"] = json.dumps(image["metadata"])
    if "label" in image:
        labels["devcontainer.metadata"] = image["label"]
    config = {"User": image.get("User", ""), "Env": image.get("Env", []), "Labels": labels or None}
    config.update({"Entrypoint": None, "Cmd": None})
    print(json.dumps([{"Id": "sha256:" + "0" * 64, "Architecture": "amd64", "Os": "linux", "Config": config}]))
elif args[:2] == ["buildx", "build"]:
    out = {"dockerfile": open(args[args.index("-f") + 1]).read(), "env": {}}
    for arg in args:
        name, _, value = arg.partition("=")
        if name == "dev_containers_feature_content_source":
            for folder, _, files in os.walk(value):
                for file in files:
                    if file.endswith(".env"):
                        key = os.path.relpath(os.path.join(folder, file), value)
                        out["env"][key] = open(os.path.join(folder, file)).read()
        elif name == "_DEV_CONTAINERS_IMAGE_USER":
            out["imageUser"] = value
    json.dump(out, open(os.environ["STAND_IN_OUT"], "w"))
elif args[:2] == ["buildx", "version"]:
    print("github.com/docker/buildx v0.12.0 0")
elif args[:1] == ["version"]:
    print("24.0.0")
elif args[:2] == ["compose", "version"]:
    print("2.24.0")
elif args[:1] == ["compose"] and "config" in args:
    # What Compose would give for one file that needs no merging.
    path = args[args.index("-f") + 1]
    print(open(path).read().replace("context: .", "context: " + os.path.dirname(os.path.abspath(path))))
elif args[:1] == ["pull"]:
    sys.exit("no such image")
"""


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def registry():
    blobs, manifests = {}, {}
    for path, tags in json.loads((FIXTURES / "registry.json").read_text()).items():
        for tag, spec in tags.items():
            spec = {"id": path.rsplit("/", 1)[1], "version": "1.0.0", "name": path, **spec}
            files = {"devcontainer-feature.json": json.dumps(spec), "install.sh": "#!/bin/sh\n"}
            layer = io.BytesIO()
            with tarfile.open(fileobj=layer, mode="w") as tar:
                for name, text in files.items():
                    info = tarfile.TarInfo(name)
                    info.size, info.mode = len(text), 0o755
                    tar.addfile(info, io.BytesIO(text.encode()))
            layer = layer.getvalue()
            blobs[digest(layer)] = layer
            manifest = json.dumps({
                "schemaVersion": 2,
                "mediaType": MANIFEST,
                "config": {"mediaType": "application/vnd.devcontainers", "digest": digest(b"{}"), "size": 2},
                "layers": [{
                    "mediaType": "application/vnd.devcontainers.layer.v1+tar",
                    "digest": digest(layer),
                    "size": len(layer),
                    "annotations": {"org.opencontainers.image.title": f"devcontainer-feature-{spec['id']}.tgz"},
                }],
                "annotations": {"dev.containers.metadata": json.dumps(spec)},
            }).encode()
            for reference in (tag, digest(manifest)):
                manifests[path, reference] = manifest

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            parts = self.path.split("?")[0].removeprefix("/v2/").rsplit("/", 2)
            body = b""
            if len(parts) == 3 and parts[1] == "manifests":
                body = manifests.get((parts[0], parts[2]), b"")
            elif len(parts) == 3 and parts[1] == "blobs":
                body = blobs.get(parts[2], b"")
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", MANIFEST)
            self.send_header("Docker-Content-Digest", digest(body))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def pairs(text):
    lines = [line.partition("=") for line in text.splitlines() if line]
    return {name: value.removeprefix('"').removesuffix('"') for name, _, value in lines}


def what_was_built(out):
    """The label, the users and the variables of scripts that a build would have had."""
    built = {}
    label = re.search(r'LABEL devcontainer.metadata="((?:[^"\\]|\\.|\\\n)*)"', out["dockerfile"])
    if label:
        text = label.group(1).replace("\\\n", "")
        built["label"] = json.loads(re.sub(r"\\(.)", r"\1", text))
    builtin = out["env"].pop("devcontainer-features.builtin.env", "").splitlines()
    builtin = dict(line.split("=", 1) for line in builtin if line)
    if builtin:
        built["imageUser"] = out["imageUser"]
        built["containerUser"] = builtin["_CONTAINER_USER"]
        built["remoteUser"] = builtin["_REMOTE_USER"]
        options = {path.rsplit("/", 1)[0]: pairs(text) for path, text in out["env"].items()}
        built["options"] = dict(sorted(options.items()))
    return built


def record(cli, docker, work, name):
    case_file = FIXTURES / name / "case.json"
    case = json.loads(case_file.read_text()) if case_file.exists() else {}
    copy = work / name
    shutil.copytree(FIXTURES / name, copy)
    if case.get("git"):
        subprocess.run(["git", "init", "-q", copy], check=True)
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(work / "home"),
        "TMPDIR": str(work / f"{name}.tmp"),
        "STAND_IN_OUT": str(work / f"{name}.json"),
        "STAND_IN_IMAGES": json.dumps(case.get("images", {"base": {}})),
        **case.get("env", {}),
    }
    (work / f"{name}.tmp").mkdir()
    folder = copy / case.get("folder", "")
    args = [arg.replace("CASE", str(copy)) for arg in case.get("args", [])]

    def call(*command):
        command = ["node", cli, *command, "--docker-path", str(docker), "--workspace-folder", str(folder), *args]
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        return json.loads(done.stdout.replace(str(work), "/repo")) if done.returncode == 0 else None

    def run(*more):
        return call("read-configuration", *more)

    expected = {}
    if plain := run():
        expected["configuration"] = plain["configuration"]
        expected["configuration"].pop("configFilePath", None)
        expected["workspace"] = plain["workspace"]
    if merged := run("--include-merged-configuration", "--include-features-configuration"):
        expected["mergedConfiguration"] = merged["mergedConfiguration"]
        expected["mergedConfiguration"].pop("configFilePath", None)
        features = []
        for group in merged.get("featuresConfiguration", {}).get("featureSets", []):
            for feature in group["features"]:
                source = group["sourceInformation"]
                features.append({
                    "id": source.get("userFeatureId"),
                    "options": feature.get("value"),
                })
        if features:
            expected["features"] = features
    out = work / f"{name}.json"
    if call("build", "--image-name", "image:tag", "--no-lockfile") and out.exists():
        expected["build"] = what_was_built(json.loads(out.read_text()))
    text = json.dumps(expected, indent=2, ensure_ascii=False) + "\n"
    (FIXTURES / name / "expected.json").write_text(text)
    print(f"{name}: {', '.join(expected) or 'refused'}")


def main():
    cli = os.path.abspath(sys.argv[1])
    names = sys.argv[2:] or sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())
    registry()
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        docker = work / "docker"
        docker.write_text(DOCKER)
        docker.chmod(0o755)
        with concurrent.futures.ThreadPoolExecutor(max_workers=4) as pool:
            list(pool.map(lambda name: record(cli, docker, work, name), names))


main()
