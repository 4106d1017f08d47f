package io.keelson.server.http.support;

/** The body of an operation that takes none: absent, or an object without members. */
record NoBody() {}
