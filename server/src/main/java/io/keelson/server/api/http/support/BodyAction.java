package io.keelson.server.api.http.support;

import java.io.IOException;

/** A route's action on a request whose body was validated and bound to a record. */
@FunctionalInterface
public interface BodyAction<T> {

    ApiResponse answer(ApiRequest request, T body) throws IOException, InterruptedException;
}
