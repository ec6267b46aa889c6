//! The network between agents and servers, where it can be cut.

use crate::deployment::Deployment;
use crate::machine::free_port;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

/// Passes each connection on to the server that it points at.
pub struct Balancer {
    pub url: String,
    target: Arc<AtomicU16>,
    /// How often the network was cut; a connection from before a cut carries nothing any more.
    cuts: Arc<AtomicU32>,
}

impl Balancer {
    pub fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", free_port())).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let balancer = Self {
            url,
            target: Arc::default(),
            cuts: Arc::default(),
        };
        let (target, cuts) = (Arc::clone(&balancer.target), Arc::clone(&balancer.cuts));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                // Without a server behind it the connection is closed.
                let port = target.load(Ordering::SeqCst);
                let (Ok(near), Ok(far)) = (stream, TcpStream::connect(("127.0.0.1", port))) else {
                    continue;
                };
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let cuts = Arc::clone(&cuts);
                    std::thread::spawn(move || carry(from, to, &cuts));
                }
            }
        });
        balancer
    }

    pub fn point_at(&self, deployment: &Deployment) {
        let address = deployment.address();
        let (_, port) = address.split_once(':').unwrap();
        self.target.store(port.parse().unwrap(), Ordering::SeqCst);
    }

    /// Cuts the network: what is connected stays so, but nothing arrives any more, not even that the other end has gone.
    /// New connections fail until it points at a server again.
    pub fn cut(&self) {
        self.target.store(0, Ordering::SeqCst);
        self.cuts.fetch_add(1, Ordering::SeqCst);
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, cuts: &AtomicU32) {
    let born = cuts.load(Ordering::SeqCst);
    let mut buffer = [0; 16384];
    loop {
        let read = from.read(&mut buffer).unwrap_or(0);
        if cuts.load(Ordering::SeqCst) != born {
            if read == 0 {
                return;
            }
            continue;
        }
        if read == 0 || to.write_all(&buffer[..read]).is_err() {
            // The other end may be gone already.
            let _ = to.shutdown(Shutdown::Write);
            return;
        }
    }
}
