//! The attribute `images`: a map from the id of a configuration to its image.

use coder_tfplugin::value::{Object, Type, Value};

use crate::service::{Image, Tag};

/// The id of the root configuration, and of the image of services that build one only.
const MAIN: &str = "main";

/// The type of the attribute.
pub fn ty() -> Type {
    let names = ["config_path", "digest", "image", "name", "registry", "tag"];
    let attributes = names.into_iter().map(|name| (name, Type::String)).collect();
    Type::map(Type::Object(attributes))
}

/// The images of a build.
pub fn built(images: &[Image]) -> Value {
    let optional = |text: &Option<String>| text.clone().map_or(Value::Null, Value::from);
    let all = images.iter().map(|image| {
        let mut value = Object::new();
        value.set("config_path", optional(&image.config_path));
        value.set("digest", optional(&image.digest));
        value.set("image", image.image.as_str());
        value.set("name", image.name.as_str());
        value.set("registry", image.registry.as_str());
        value.set("tag", image.tag.as_str());
        (image.id.clone(), Value::Map(value))
    });
    Value::Map(all.collect())
}

/// The images that a build will make. Without a tag that is given, only the commit will tell it.
pub fn planned(images: &[Image], has_tag: bool) -> Value {
    let mut planned = built(images);
    if let Value::Map(all) = &mut planned {
        for image in all.maps_mut() {
            image.set("digest", Value::Unknown);
            if !has_tag {
                image.set("image", Value::Unknown);
                image.set("tag", Value::Unknown);
            }
        }
    }
    planned
}

/// The images of a state that names one only, as older providers stored it or an import makes it.
pub fn single(tag: &Tag) -> Value {
    let image = Image {
        id: MAIN.to_owned(),
        config_path: None,
        image: tag.to_string(),
        registry: tag.registry.clone(),
        name: tag.name.clone(),
        tag: tag.tag.clone(),
        digest: None,
    };
    built(&[image])
}

/// The ids, if they are known.
pub fn ids(state: &Object) -> Option<Vec<String>> {
    let images = state.object("images")?.iter();
    Some(images.map(|(id, _)| id.to_owned()).collect())
}

/// Whether the images are those of a service that knew no ids.
pub fn are_legacy(state: &Object) -> bool {
    state.object("images").is_none_or(|images| {
        let is_main = |id| id == MAIN && images.object(id).is_some_and(has_no_path);
        images.iter().all(|(id, _)| is_main(id))
    })
}

fn has_no_path(image: &Object) -> bool {
    *image.get("config_path") == Value::Null
}

/// The tags of a state, by id.
pub fn tags(state: &Object) -> Vec<(String, Tag)> {
    let Some(images) = state.object("images") else {
        let tag = tag(
            state,
            ["resolved_registry", "resolved_name", "resolved_tag"],
        );
        return tag.map(|tag| (MAIN.to_owned(), tag)).into_iter().collect();
    };
    let parts = ["registry", "name", "tag"];
    let tags = images
        .iter()
        .filter_map(|(id, _)| Some((id.to_owned(), tag(images.object(id)?, parts)?)));
    tags.collect()
}

fn tag(object: &Object, [registry, name, tag]: [&str; 3]) -> Option<Tag> {
    Some(Tag {
        registry: object.str(registry)?.to_owned(),
        name: object.str(name)?.to_owned(),
        tag: object.str(tag)?.to_owned(),
    })
}
