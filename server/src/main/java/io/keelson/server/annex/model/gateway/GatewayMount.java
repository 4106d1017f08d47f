package io.keelson.server.annex.model.gateway;

import io.keelson.server.api.http.gateway.GatewayError;
import io.keelson.server.api.http.gateway.StepTokens;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.Mount;
import io.keelson.server.api.http.support.MountedRequest;
import java.io.IOException;
import java.util.Set;

/** The paths of one provider's API. A path that the gateway does not have is refused before any token is read. */
final class GatewayMount implements Mount {
    private static final Set<String> READS = Set.of("GET", "HEAD");
    private static final int OK = 200;

    private final Dialect dialect;
    private final StepTokens tokens;
    private final UsableModels models;
    private final ModelGateway gateway;

    GatewayMount(Dialect dialect, StepTokens tokens, UsableModels models, ModelGateway gateway) {
        this.dialect = dialect;
        this.tokens = tokens;
        this.models = models;
        this.gateway = gateway;
    }

    @Override
    public String path() {
        return dialect.path();
    }

    @Override
    public ApiResponse answer(MountedRequest request) throws IOException, InterruptedException {
        try {
            if (request.path().equals("/v1/models") && READS.contains(request.method())) {
                return ApiResponse.json(OK, dialect.models(models.names(tokens.of(request))));
            }
            GatewayPath path = GatewayPath.of(dialect, request.path());
            if (path == null || !request.method().equals("POST")) {
                throw GatewayError.notFound();
            }
            return gateway.answer(tokens.of(request), path, request);
        } catch (GatewayError e) {
            return refused(e);
        }
    }

    @Override
    public ApiResponse refusal(MountedRequest request, ApiProblem problem) {
        return refused(GatewayError.of(problem));
    }

    private ApiResponse refused(GatewayError error) {
        ApiResponse response = ApiResponse.json(error.status(), dialect.error(error));
        return new ApiResponse(error.status(), response.content(), error.headers(), false, "");
    }
}
