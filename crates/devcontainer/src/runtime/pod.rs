//! What a pod has to be given (builder §1.13, "runtime").

use super::run_args::RunArgs;
use super::shell::is_identifier;
use crate::config::host::{Gpu, HostRequirements};
use crate::config::mount::Mount;
use crate::config::port::{Port, PortAttributes};
use crate::json::{Object, Value};
use crate::merge::Merged;

/// All of it. `config` is the second label, which may have the remote user's account.
pub fn runtime(
    merged: &Merged,
    run_args: &RunArgs,
    config: &Object,
    image_user: &str,
    warnings: &mut Vec<String>,
) -> Object {
    let mut runtime = users(merged, config, image_user, warnings);
    let mut put = |key: &str, value: Value| {
        runtime.insert(key.to_owned(), value);
    };
    put("ports", ports(merged, config, warnings).into());
    put("mounts", mounts(merged, run_args, warnings).into());
    put("capAdd", cap_add(merged, run_args).into());
    let flag = |key: &str| merged.value.get(key).is_some_and(Value::truthy);
    put(
        "privileged",
        (flag("privileged") || run_args.privileged).into(),
    );
    put("init", (flag("init") || run_args.init).into());
    put(
        "seccompUnconfined",
        seccomp(merged, run_args, warnings).into(),
    );
    put("shmSizeBytes", whole(run_args.shm_size_bytes));
    put(
        "hostname",
        run_args
            .hostname
            .as_deref()
            .map_or(Value::Null, Value::from),
    );
    put("hostAliases", aliases(run_args).into());
    put("resources", resources(merged, run_args, warnings).into());
    runtime
}

fn whole(number: Option<u64>) -> Value {
    number.map_or(Value::Null, |number| Value::Number(number.into()))
}

fn text(value: Option<&str>) -> Value {
    value.map_or(Value::Null, Value::from)
}

fn users(merged: &Merged, config: &Object, image_user: &str, warnings: &mut Vec<String>) -> Object {
    // `name:group` is how an image may write it.
    let image = image_user.split(':').next().filter(|user| !user.is_empty());
    let said = |key: &str| {
        merged
            .value
            .get(key)
            .and_then(Value::as_str)
            .filter(|user| !user.is_empty())
    };
    let container = said("containerUser").or(image);
    let remote = said("remoteUser").or(container).unwrap_or("root");
    if let Some(container) = said("containerUser").filter(|container| *container != remote) {
        warnings.push(format!(
            "containerUser is not honoured: all programs run as {remote}, the remote user, and none as {container}"
        ));
    }
    if remote.bytes().all(|b| b.is_ascii_digit()) {
        warnings.push(format!(
            "the remote user {remote} is a number: home and group may not be known"
        ));
    }
    let account = config.get("remoteUserAccount").and_then(Value::as_object);
    let same = account.filter(|account| {
        let name = account.get("name").and_then(Value::as_str);
        let uid = account.get("uid").map(ToString::to_string);
        name == Some(remote) || uid.as_deref() == Some(remote)
    });
    let of_account = |key: &str| {
        same.and_then(|account| account.get(key))
            .cloned()
            .unwrap_or_default()
    };
    Object::from_iter([
        ("remoteUser".to_owned(), remote.into()),
        ("remoteUserUid".to_owned(), of_account("uid")),
        ("remoteUserGid".to_owned(), of_account("gid")),
        ("remoteUserHome".to_owned(), of_account("home")),
        ("containerUser".to_owned(), text(container)),
    ])
}

fn list<'a>(merged: &'a Merged, key: &str) -> &'a [Value] {
    merged
        .value
        .get(key)
        .and_then(Value::as_array)
        .unwrap_or_default()
}

fn ports(merged: &Merged, config: &Object, warnings: &mut Vec<String>) -> Vec<Value> {
    let attributes = merged
        .value
        .get("portsAttributes")
        .and_then(Value::as_object);
    let mut numbers = Vec::new();
    for value in list(merged, "forwardPorts") {
        match Port::read(value) {
            Some(port) if port.host == "localhost" => numbers.push(port.port),
            _ => warnings.push(format!(
                "forwardPorts: {value} is not a port of the container and is dropped"
            )),
        }
    }
    published(config, &mut numbers, warnings);
    let mut ports = Vec::new();
    for port in numbers {
        let about = attributes.and_then(|all| all.get(&port.to_string())?.as_object());
        let about = about.map(PortAttributes::read).unwrap_or_default();
        let mut object = Object::from_iter([("port".to_owned(), Value::Number(port.into()))]);
        for (key, value) in [
            ("label", about.label),
            ("protocol", about.protocol),
            ("onAutoForward", about.on_auto_forward),
        ] {
            if let Some(value) = value {
                object.insert(key.to_owned(), value.into());
            }
        }
        ports.push(object.into());
    }
    ports
}

/// Adds what `appPort` has: of docker's `address:host:container` only the last is about the container.
fn published(config: &Object, numbers: &mut Vec<u16>, warnings: &mut Vec<String>) {
    let all = match config.get("appPort") {
        None => &[],
        Some(Value::Array(all)) => all.as_slice(),
        Some(one) => std::slice::from_ref(one),
    };
    for value in all {
        let (own, is_whole) = match value.as_str().and_then(|text| text.rsplit_once(':')) {
            Some((_, own)) => (Port::read(&own.into()), false),
            None => (Port::read(value), true),
        };
        let Some(own) = own else {
            warnings.push(format!(
                "appPort: {value} is not a port of the container and is dropped"
            ));
            continue;
        };
        if !is_whole {
            warnings.push(format!(
                "appPort: of {value} only the port of the container counts"
            ));
        }
        if !numbers.contains(&own.port) {
            numbers.push(own.port);
        }
    }
}

fn mounts(merged: &Merged, run_args: &RunArgs, warnings: &mut Vec<String>) -> Vec<Value> {
    let own = list(merged, "mounts").iter().filter_map(Mount::read);
    let mut mounts = Vec::new();
    for mount in own.chain(run_args.mounts.iter().cloned()) {
        let kind = mount.kind.as_deref().unwrap_or("volume");
        let target = mount.target.as_deref().filter(|target| !target.is_empty());
        let (Some(target), true) = (target, matches!(kind, "volume" | "tmpfs")) else {
            warnings.push(format!(
                "the {kind} mount {} at {} is not possible here and is dropped",
                mount.source.as_deref().unwrap_or("without a source"),
                target.unwrap_or("no place"),
            ));
            continue;
        };
        let mut object = Object::from_iter([("kind".to_owned(), kind.into())]);
        if let Some(source) = mount.source.as_deref().filter(|source| !source.is_empty()) {
            object.insert("source".to_owned(), source.into());
        }
        object.insert("target".to_owned(), target.into());
        object.insert("readOnly".to_owned(), mount.read_only.into());
        mounts.push(object.into());
    }
    mounts
}

/// Each once, in capitals and without `CAP_`, whoever asks for it.
fn cap_add(merged: &Merged, run_args: &RunArgs) -> Vec<Value> {
    let own = list(merged, "capAdd").iter().filter_map(Value::as_str);
    let mut all: Vec<String> = Vec::new();
    for name in own.chain(run_args.cap_add.iter().map(String::as_str)) {
        let name = name.to_ascii_uppercase();
        let name = name.strip_prefix("CAP_").unwrap_or(&name);
        if is_identifier(name) && !all.iter().any(|known| known == name) {
            all.push(name.to_owned());
        }
    }
    all.into_iter().map(Value::from).collect()
}

fn seccomp(merged: &Merged, run_args: &RunArgs, warnings: &mut Vec<String>) -> bool {
    let own = list(merged, "securityOpt").iter().filter_map(Value::as_str);
    let mut is_unconfined = false;
    for option in own.chain(run_args.security_opt.iter().map(String::as_str)) {
        match option.split_once(['=', ':']) {
            Some(("seccomp", "unconfined")) => is_unconfined = true,
            _ => warnings.push(format!(
                "the security option {option} has no meaning here and is ignored"
            )),
        }
    }
    is_unconfined
}

fn aliases(run_args: &RunArgs) -> Vec<Value> {
    let mut aliases: indexmap::IndexMap<&str, Vec<Value>> = indexmap::IndexMap::new();
    for (host, ip) in &run_args.hosts {
        aliases.entry(ip).or_default().push(host.as_str().into());
    }
    let alias = |(ip, hostnames): (&str, Vec<Value>)| {
        Object::from_iter([
            ("ip".to_owned(), ip.into()),
            ("hostnames".to_owned(), hostnames.into()),
        ])
        .into()
    };
    aliases.into_iter().map(alias).collect()
}

/// What is not asked for is `null`, also where the merge has a zero.
fn resources(merged: &Merged, run_args: &RunArgs, warnings: &mut Vec<String>) -> Object {
    let asked = merged
        .value
        .get("hostRequirements")
        .and_then(Value::as_object);
    let read = asked.map(HostRequirements::read).unwrap_or_default();
    let cpus = match (run_args.cpus, read.cpus) {
        (Some(cpus), _) => Value::number(cpus),
        (None, cpus) => whole(cpus),
    };
    if let Gpu::Required {
        cores,
        memory_bytes,
    } = read.gpu
        && (cores.is_some() || memory_bytes.is_some())
    {
        warnings.push(
            "hostRequirements.gpu: how many cores and how much memory is not honoured".to_owned(),
        );
    }
    let gpu = match read.gpu {
        Gpu::None => Value::Null,
        _ => asked
            .and_then(|asked| asked.get("gpu"))
            .cloned()
            .unwrap_or_default(),
    };
    Object::from_iter([
        ("cpus".to_owned(), cpus),
        (
            "memoryBytes".to_owned(),
            whole(run_args.memory_bytes.or(read.memory_bytes)),
        ),
        ("storageBytes".to_owned(), whole(read.storage_bytes)),
        ("gpu".to_owned(), gpu),
    ])
}
