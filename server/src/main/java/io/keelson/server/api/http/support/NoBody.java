package io.keelson.server.api.http.support;

/** The body of an operation that takes none: absent, or an object without members. */
record NoBody() {}
