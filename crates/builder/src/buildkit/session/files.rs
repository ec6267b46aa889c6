//! Sends a folder: first what is there, then the content of what BuildKit asks for.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream::BoxStream;
use tokio::sync::mpsc;
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status, Streaming};

use super::super::wire::fsutil::types::packet::PacketType;
use super::super::wire::fsutil::types::{Packet, Stat};
use super::super::wire::moby::filesync::v1::file_sync_server::FileSync;
use super::pattern::Patterns;
use super::tree::{self, ReadTree, Wanted};
use super::{Folder, Offer, receiving};

/// The largest piece of a file in one packet.
const CHUNK_BYTES: usize = 32 << 10;
/// The packets that wait to be sent.
const QUEUE: usize = 64;

/// Sends the folders of the offer.
pub(super) struct Files(pub(super) Arc<Offer>);

/// A folder with what of it is sent.
struct Listing {
    stats: Vec<Stat>,
    content: Content,
}

enum Content {
    Disk(PathBuf),
    Memory(Vec<Vec<u8>>),
}

#[tonic::async_trait]
impl FileSync for Files {
    type DiffCopyStream = BoxStream<'static, Result<Packet, Status>>;

    async fn diff_copy(
        &self,
        request: Request<Streaming<Packet>>,
    ) -> Result<Response<Self::DiffCopyStream>, Status> {
        let options = Options::read(request.metadata());
        let Some(folder) = self.0.folders.get(&options.name).cloned() else {
            let text = format!("no folder `{}` belongs to this build", options.name);
            return Err(Status::not_found(text));
        };
        let offer = Arc::clone(&self.0);
        let listing = tokio::task::spawn_blocking(move || listing(folder, &options, &offer)).await;
        let listing = listing.map_err(|error| Status::internal(error.to_string()))?;
        let listing = listing.map_err(|error| Status::failed_precondition(error.to_string()))?;
        let (packets, from) = mpsc::channel(QUEUE);
        tokio::spawn(send(listing, request.into_inner(), packets));
        Ok(Response::new(receiving(from)))
    }
}

/// What BuildKit wants to have.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    name: String,
    include: Vec<String>,
    exclude: Vec<String>,
    follow: Option<Vec<String>>,
}

impl Options {
    fn read(headers: &MetadataMap) -> Self {
        let values = |key: &str| {
            let encoded = headers
                .get(format!("{key}-encoded"))
                .is_some_and(|value| value == "1");
            let texts = headers
                .get_all(key)
                .iter()
                .filter_map(|value| value.to_str().ok());
            texts
                .map(|text| match encoded {
                    // As in the query of a URL.
                    true => url_decoded(text),
                    false => text.to_owned(),
                })
                .collect::<Vec<String>>()
        };
        let follow = values("followpaths");
        Self {
            name: values("dir-name").pop().unwrap_or_default(),
            include: values("include-patterns"),
            exclude: values("exclude-patterns"),
            follow: (!follow.is_empty()).then_some(follow),
        }
    }
}

fn url_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let pair = [rest.next().unwrap_or(b'0'), rest.next().unwrap_or(b'0')];
                let mut decoded = [0];
                if hex::decode_to_slice(pair, &mut decoded).is_ok() {
                    bytes.push(decoded[0]);
                }
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn listing(folder: Folder, options: &Options, offer: &Offer) -> Result<Listing, ReadTree> {
    let mut include = options.include.clone();
    match folder {
        Folder::Disk(root) => {
            if let Some(paths) = &options.follow {
                let followed = tree::follow(&root, paths.iter().map(String::as_str));
                match followed {
                    Some(followed) => include.extend(followed),
                    None => include.clear(),
                }
            }
            let wanted = Wanted {
                include: Patterns::new(include.iter().map(String::as_str))?,
                exclude: Patterns::new(options.exclude.iter().map(String::as_str))?,
            };
            let stats = tree::list(&root, &wanted, offer.epoch, offer.max_folder_bytes)?;
            Ok(Listing {
                stats,
                content: Content::Disk(root),
            })
        }
        // A handful of small files: all of them are sent.
        Folder::Memory(files) => {
            let stat = |(name, content): (&String, &Vec<u8>)| Stat {
                path: name.clone(),
                mode: 0o644,
                size: i64::try_from(content.len()).unwrap_or(i64::MAX),
                mod_time: offer.epoch.saturating_mul(1_000_000_000),
                ..Stat::default()
            };
            Ok(Listing {
                stats: files.iter().map(stat).collect(),
                content: Content::Memory(files.into_values().collect()),
            })
        }
    }
}

type Packets = mpsc::Sender<Result<Packet, Status>>;

/// Sends the list, and while that goes on whatever is asked for, until BuildKit has had enough.
async fn send(listing: Listing, mut from: Streaming<Packet>, packets: Packets) {
    let listing = Arc::new(listing);
    // Each file is sent once at most.
    let open = Arc::new(Mutex::new(vec![true; listing.stats.len()]));
    let (wanted, mut queue) = mpsc::unbounded_channel::<u32>();
    let stats = {
        let (listing, packets) = (Arc::clone(&listing), packets.clone());
        async move {
            for stat in &listing.stats {
                let packet = Packet {
                    r#type: PacketType::PacketStat as i32,
                    stat: Some(stat.clone()),
                    ..Packet::default()
                };
                if packets.send(Ok(packet)).await.is_err() {
                    return;
                }
            }
            // An empty one says that this was all.
            let _ = packets.send(Ok(Packet::default())).await;
        }
    };
    let content = {
        let (listing, packets) = (Arc::clone(&listing), packets.clone());
        async move {
            while let Some(id) = queue.recv().await {
                let (listing, packets) = (Arc::clone(&listing), packets.clone());
                let sent = tokio::task::spawn_blocking(move || send_file(&listing, id, &packets));
                if sent.await.is_err() {
                    return;
                }
            }
        }
    };
    let requests = async move {
        while let Ok(Some(packet)) = from.message().await {
            match packet.r#type() {
                PacketType::PacketReq => {
                    let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
                    let index = packet.id as usize;
                    if open.get(index).copied() == Some(true) {
                        open[index] = false;
                        let _ = wanted.send(packet.id);
                    }
                }
                PacketType::PacketFin => {
                    let fin = Packet {
                        r#type: PacketType::PacketFin as i32,
                        ..Packet::default()
                    };
                    let _ = packets.send(Ok(fin)).await;
                    return;
                }
                PacketType::PacketErr => {
                    let text = String::from_utf8_lossy(&packet.data).into_owned();
                    tracing::debug!(error = text, "BuildKit did not take a file");
                    return;
                }
                PacketType::PacketStat | PacketType::PacketData => {}
            }
        }
    };
    tokio::join!(stats, content, requests);
}

/// Sends the content of a file and then its end. A file that has gone meanwhile is sent as empty.
fn send_file(listing: &Listing, id: u32, packets: &Packets) {
    let data = |data: Vec<u8>| Packet {
        r#type: PacketType::PacketData as i32,
        id,
        data,
        ..Packet::default()
    };
    let chunks = |content: &[u8]| {
        content
            .chunks(CHUNK_BYTES)
            .all(|chunk| packets.blocking_send(Ok(data(chunk.to_vec()))).is_ok())
    };
    match &listing.content {
        Content::Memory(files) => {
            chunks(&files[id as usize]);
        }
        Content::Disk(root) => {
            if let Ok(file) = opened(root, &listing.stats[id as usize]) {
                let mut buffer = vec![0; CHUNK_BYTES];
                // No more than was announced.
                let size = listing.stats[id as usize].size.unsigned_abs();
                let mut file = file.take(size);
                while let Ok(read) = file.read(&mut buffer) {
                    if read == 0 || !chunks(&buffer[..read]) {
                        break;
                    }
                }
            }
        }
    }
    let _ = packets.blocking_send(Ok(data(Vec::new())));
}

fn opened(root: &Path, stat: &Stat) -> std::io::Result<File> {
    tree::open_inside(root, &stat.path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_from_headers() {
        let mut headers = MetadataMap::new();
        headers.insert("dir-name", "context".parse().unwrap());
        headers.append("followpaths", "a%C3%A4+b".parse().unwrap());
        headers.append("followpaths", "c".parse().unwrap());
        headers.insert("followpaths-encoded", "1".parse().unwrap());
        headers.append("exclude-patterns", "%2A".parse().unwrap());
        let options = Options::read(&headers);
        assert_eq!(options.name, "context");
        assert_eq!(options.follow.unwrap(), ["aä b", "c"]);
        assert_eq!(options.exclude, ["%2A"]);
    }
}
