//! Taking over an image that exists already.

use coder_tfplugin::diagnostics::{Diagnostic, Diagnostics};
use coder_tfplugin::plugin::Stored;
use coder_tfplugin::value::{Object, Value};

use super::memory::Memory;
use super::{Build, images, schema};
use crate::grammar;
use crate::service::Tag;

/// What an identifier looks like.
const WANTED: &str = "write registry/name:tag, or registry,name,tag when the name holds a slash";

/// Takes over the image with this reference. Its repository and arguments are those of the
/// configuration that the next apply sees.
pub async fn import(build: &Build, id: &str, found: &mut Diagnostics) -> Option<Stored> {
    let imported = take_over(build, id).await;
    imported.map_err(|problem| found.push(problem)).ok()
}

async fn take_over(build: &Build, id: &str) -> Result<Stored, Diagnostic> {
    let tag = parse(id).map_err(|why| {
        let summary = format!("{id:?} is not the identifier of an image");
        Diagnostic::error(summary, why)
    })?;
    let settings = build.shared.needed()?;
    let deadline = settings.deadline(&Object::new(), "read");
    // Arguments are not known yet, only what the provider block says.
    let login = settings.registry.as_ref();
    let exists = settings.service.image_exists(&tag, login, deadline).await;
    let exists = exists.map_err(|error| error.diagnostic(format!("{tag} cannot be looked for")))?;
    if !exists {
        let detail = "only an image that is in its registry can be imported";
        return Err(Diagnostic::error(format!("there is no {tag}"), detail));
    }
    let memory = Memory {
        imported: true,
        ..Memory::default()
    };
    Ok(Stored {
        state: state(&tag),
        private: memory.write(),
    })
}

fn state(tag: &Tag) -> Object {
    let names = schema::schema().block.attributes.into_iter();
    let nothing = names.map(|attribute| (attribute.name.to_owned(), Value::Null));
    let mut state: Object = nothing.collect();
    state.set("id", tag.to_string());
    state.set("image", tag.to_string());
    state.set("images", images::single(tag));
    state.set("resolved_registry", tag.registry.as_str());
    state.set("resolved_name", tag.name.as_str());
    state.set("resolved_tag", tag.tag.as_str());
    state
}

fn parse(id: &str) -> Result<Tag, String> {
    let parts: Vec<&str> = id.split(',').collect();
    let (registry, name, tag) = match parts[..] {
        [registry, name, tag] => (registry, name, tag),
        [whole] => {
            let (registry, rest) = whole.rsplit_once('/').ok_or(WANTED)?;
            let (name, tag) = rest.split_once(':').ok_or(WANTED)?;
            (registry, name, tag)
        }
        _ => return Err(WANTED.to_owned()),
    };
    grammar::registry(registry)?;
    grammar::name(name)?;
    grammar::tag(tag)?;
    Ok(Tag {
        registry: registry.to_owned(),
        name: name.to_owned(),
        tag: tag.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_131_an_image_is_named_by_its_reference_or_with_commas() {
        let shown =
            |id: &str| parse(id).map(|tag| format!("{} {} {}", tag.registry, tag.name, tag.tag));
        assert_eq!(shown("h:5000/team/app:v1").unwrap(), "h:5000/team app v1");
        assert_eq!(shown("h:5000,team/app,v1").unwrap(), "h:5000 team/app v1");
        for id in [
            "",
            "app",
            "h/app",
            "app:v1",
            "h/App:v1",
            "h,app",
            "h,app,v1,x",
            "h/app:",
            "h,,v",
        ] {
            assert!(parse(id).is_err(), "{id}");
        }
    }
}
