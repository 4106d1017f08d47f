package io.keelson.server.http.support;

import java.io.IOException;

/** What a route does. A {@link ApiProblem} thrown is an answer too. */
@FunctionalInterface
public interface Action {

    ApiResponse answer(ApiRequest request) throws IOException, InterruptedException;
}
