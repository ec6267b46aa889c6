//! The coordination service as agents see it, and the map of relays (spec 06 §6.2, §6.4).
//!
//! Agents of other makes want to coordinate WireGuard; they are kept connected so that everything
//! else of theirs works. Nothing here coordinates.

use super::service::unary;
use crate::app::App;
use coder_proto::drpc::{Call, CallError, Status};
use coder_proto::mux::MuxStream;
use coder_proto::tailnet as proto;
use serde_json::{Value, json};
use std::io;
use url::Url;

/// The region of the relay that is part of the server.
const REGION: i64 = 999;
const REGION_CODE: &str = "coder";
const REGION_NAME: &str = "Coder Embedded Relay";

/// Serves one call.
pub(super) async fn answer(app: &App, name: &str, mut call: Call<MuxStream>) -> io::Result<()> {
    match name {
        "StreamDERPMaps" => {
            call.send(&relay_map(&app.config.access_url)).await?;
            stay::<proto::StreamDerpMapsRequest>(call).await
        }
        "Coordinate" => stay::<proto::CoordinateRequest>(call).await,
        "PostTelemetry" => {
            unary(call, |_: proto::TelemetryRequest| async {
                Ok(proto::TelemetryResponse {})
            })
            .await
        }
        _ => {
            let method = call.method().to_owned();
            call.finish::<()>(Err(Status::unimplemented(&method))).await
        }
    }
}

/// Keeps a stream open until the agent ends it.
async fn stay<M: prost::Message + Default>(call: Call<MuxStream>) -> io::Result<()> {
    let (mut requests, _replies) = call.split();
    let mut sends_no_more = false;
    loop {
        match requests.next::<M>().await {
            Ok(Some(_)) | Err(CallError::Decode(_)) => {}
            // "I send no more" is how a stream of answers starts; the second time it is the end.
            Ok(None) if !sends_no_more => sends_no_more = true,
            Ok(None) => return Ok(()),
            Err(CallError::Io(error)) => return Err(error),
            Err(_) => return Ok(()),
        }
    }
}

fn node_parts(access_url: &Url) -> (String, u16, bool) {
    let host = access_url.host_str().unwrap_or_default().to_owned();
    (
        host,
        access_url.port_or_known_default().unwrap_or(80),
        access_url.scheme() == "http",
    )
}

/// The relays, in the form that agents get.
pub fn relay_map(access_url: &Url) -> proto::DerpMap {
    use proto::derp_map::{Region, region::Node};
    let (host_name, port, force_http) = node_parts(access_url);
    let node = Node {
        name: format!("{REGION}b"),
        region_id: REGION,
        host_name,
        stun_port: -1,
        derp_port: i32::from(port),
        force_http,
        ..Default::default()
    };
    let region = Region {
        region_id: REGION,
        embedded_relay: true,
        region_code: REGION_CODE.to_owned(),
        region_name: REGION_NAME.to_owned(),
        avoid: false,
        nodes: vec![node],
    };
    proto::DerpMap {
        // Agents of stock Coder crash without it.
        home_params: Some(proto::derp_map::HomeParams::default()),
        regions: [(REGION, region)].into_iter().collect(),
    }
}

/// The relays, in the form that the REST API gives.
pub fn relay_map_json(access_url: &Url) -> Value {
    let (host_name, port, force_http) = node_parts(access_url);
    let mut node = json!({
        "Name": format!("{REGION}b"), "RegionID": REGION, "HostName": host_name, "STUNPort": -1, "DERPPort": port,
    });
    if force_http {
        node["ForceHTTP"] = json!(true);
    }
    json!({
        "Regions": {
            REGION.to_string(): {
                "EmbeddedRelay": true, "RegionID": REGION, "RegionCode": REGION_CODE, "RegionName": REGION_NAME, "Nodes": [node],
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_names_the_access_url_in_both_forms() {
        let url: Url = "https://coder.example.com".parse().unwrap();
        let map = relay_map(&url);
        assert!(map.home_params.is_some());
        let node = &map.regions[&999].nodes[0];
        assert_eq!(
            (
                node.host_name.as_str(),
                node.derp_port,
                node.stun_port,
                node.force_http
            ),
            ("coder.example.com", 443, -1, false)
        );
        let node = &relay_map_json(&url)["Regions"]["999"]["Nodes"][0];
        assert_eq!(
            (node["DERPPort"].as_u64(), node.get("ForceHTTP")),
            (Some(443), None)
        );
        assert_eq!(
            relay_map_json(&"http://h:3000".parse().unwrap())["Regions"]["999"]["Nodes"][0]["ForceHTTP"],
            true
        );
    }
}
