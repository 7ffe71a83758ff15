//! Tools that are one HTTP request: what such a request is, its templates, what must not stand in it. Values only;
//! nothing is sent here.

mod sensitive;
mod spec;
mod template;

pub(crate) use sensitive::{has_literal_secret, is_sensitive_name};
pub(crate) use spec::{Extract, Header, HeaderContent, HttpSpec, Method, Request, Response, ResponseFormat};
pub(crate) use template::{body_fault, parameters, stray_placeholder};
