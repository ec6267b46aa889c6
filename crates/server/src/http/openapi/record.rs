//! Stands in for axum's router when the table of routes is read a second time: handlers are not called but
//! described, by the types that they take and give.

use super::schemas::Schemas;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// What is known about one operation.
#[derive(Default)]
pub struct Operation {
    pub method: &'static str,
    pub path: String,
    /// The handler: its module and its name.
    pub handler: (&'static str, &'static str),
    /// Whether it wants to know who calls.
    pub authenticated: bool,
    /// Parts of the path that are ids.
    pub ids: Vec<&'static str>,
    pub query: Vec<Value>,
    pub body: Option<Value>,
    /// By status.
    pub responses: BTreeMap<String, Value>,
}

impl Operation {
    /// Adds a parameter of the query.
    pub fn add_query(&mut self, name: &str, schema: Value, required: bool) {
        self.query
            .push(json!({"name": name, "in": "query", "required": required, "schema": schema}));
    }

    /// Adds an answer; one status can have several kinds of content.
    pub fn add_response(
        &mut self,
        status: u16,
        description: &str,
        content: Option<(&str, Value)>,
    ) -> &mut Value {
        let response = self
            .responses
            .entry(status.to_string())
            .or_insert_with(|| json!({"description": description}));
        if let Some((kind, schema)) = content {
            response["content"][kind] = json!({"schema": schema});
        }
        response
    }
}

/// What a handler takes.
pub trait Input {
    fn describe(operation: &mut Operation, schemas: &mut Schemas);
}

/// What a handler gives.
pub trait Output {
    fn describe(operation: &mut Operation, schemas: &mut Schemas);
}

/// A handler with all that it takes.
pub trait Handler<Inputs> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas);
}

macro_rules! handlers {
    ($(($($input:ident),*))+) => {$(
        impl<F, Fut, $($input,)*> Handler<($($input,)*)> for F
        where
            F: Fn($($input),*) -> Fut,
            Fut: Future<Output: Output>,
            $($input: Input,)*
        {
            fn describe(operation: &mut Operation, schemas: &mut Schemas) {
                $($input::describe(operation, schemas);)*
                <Fut::Output as Output>::describe(operation, schemas);
            }
        }
    )+};
}

handlers! { () (A) (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, G) (A, B, C, D, E, G, H) }

type Describe = fn(&mut Operation, &mut Schemas);

/// The methods of one path.
#[derive(Default)]
pub struct Methods(Vec<(&'static str, &'static str, Describe)>);

impl Methods {
    fn on<H: Handler<I>, I>(mut self, method: &'static str, _: H) -> Self {
        self.0
            .push((method, std::any::type_name::<H>(), H::describe));
        self
    }

    pub fn post<H: Handler<I>, I>(self, handler: H) -> Self {
        self.on("post", handler)
    }

    pub fn put<H: Handler<I>, I>(self, handler: H) -> Self {
        self.on("put", handler)
    }

    pub fn patch<H: Handler<I>, I>(self, handler: H) -> Self {
        self.on("patch", handler)
    }

    pub fn delete<H: Handler<I>, I>(self, handler: H) -> Self {
        self.on("delete", handler)
    }

    /// For pages of other sites; no part of the API.
    pub fn options<H>(self, _: H) -> Self {
        self
    }
}

pub fn get<H: Handler<I>, I>(handler: H) -> Methods {
    Methods::default().on("get", handler)
}

pub fn post<H: Handler<I>, I>(handler: H) -> Methods {
    Methods::default().post(handler)
}

pub fn put<H: Handler<I>, I>(handler: H) -> Methods {
    Methods::default().put(handler)
}

pub fn patch<H: Handler<I>, I>(handler: H) -> Methods {
    Methods::default().patch(handler)
}

/// Whatever comes: apps of workspaces, which are no part of the API.
pub fn any<H>(_: H) -> Methods {
    Methods::default()
}

/// The table of routes.
pub struct Router<S>(Vec<(String, Methods)>, PhantomData<S>);

impl<S> Router<S> {
    pub fn new() -> Self {
        Self(Vec::new(), PhantomData)
    }

    pub fn route(mut self, path: &str, methods: Methods) -> Self {
        self.0.push((path.to_owned(), methods));
        self
    }

    pub fn merge(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    pub fn nest(mut self, prefix: &str, other: Self) -> Self {
        let nested = other.0.into_iter();
        self.0
            .extend(nested.map(|(path, methods)| (format!("{prefix}{path}"), methods)));
        self
    }

    /// Describes all operations below `prefix`, in the order of the table.
    pub fn describe(self, prefix: &str, schemas: &mut Schemas) -> Vec<Operation> {
        let mut all = Vec::new();
        for (path, methods) in self.0 {
            if !path.starts_with(prefix) {
                continue;
            }
            for (method, name, describe) in methods.0 {
                let mut words = name.rsplit("::");
                let (function, module) = (words.next(), words.next());
                let mut operation = Operation {
                    method,
                    path: path.clone(),
                    handler: (module.unwrap_or_default(), function.unwrap_or_default()),
                    ..Operation::default()
                };
                describe(&mut operation, schemas);
                all.push(operation);
            }
        }
        all
    }
}
