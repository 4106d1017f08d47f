package io.keelson.server.annex.model.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.api.http.gateway.GatewayError;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class WorkspaceRequestsTest {

    @Test
    void requestsOfAWorkspaceAreBounded() throws Exception {
        WorkspaceRequests requests = new WorkspaceRequests();
        UUID full = UUID.randomUUID();
        for (int i = 0; i < WorkspaceRequests.IN_FLIGHT; i++) {
            requests.begin(full);
        }
        assertThatThrownBy(() -> requests.begin(full)).isInstanceOfSatisfying(GatewayError.class,
                refused -> assertThat(refused.code()).isEqualTo("too_many_requests"));
        requests.begin(UUID.randomUUID());
        requests.end(full);
        requests.begin(full);
    }
}
