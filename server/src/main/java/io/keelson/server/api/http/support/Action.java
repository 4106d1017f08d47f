package io.keelson.server.api.http.support;

import java.io.IOException;

/** The handler of a route. A thrown {@link ApiProblem} is a response, too. */
@FunctionalInterface
public interface Action {

    ApiResponse answer(ApiRequest request) throws IOException, InterruptedException;
}
