package io.keelson.server.api.http.support;

import java.io.IOException;

/** All paths below a prefix, for another protocol than this API's: with credentials and refusals of its own. */
public interface Mount {

    /** The beginning of the paths, without a slash at its end. */
    String path();

    /**
     * Answers a request below the prefix.
     *
     * @throws ApiProblem for {@link #refusal}, as other exceptions are
     */
    ApiResponse answer(MountedRequest request) throws IOException, InterruptedException;

    /** The answer to a request that has failed, in the protocol's form. */
    ApiResponse refusal(MountedRequest request, ApiProblem problem);
}
