package io.keelson.server.annex.model.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.annex.model.gateway.LeaseRequests.InFlight;
import io.keelson.server.api.http.gateway.GatewayError;
import io.keelson.server.base.json.DocumentMemory;
import java.util.List;
import java.util.UUID;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class WorkspaceRequestsTest {
    private static final int MEMORY = 1 << 20;

    private final WorkspaceRequests requests = new WorkspaceRequests(new DocumentMemory(MEMORY));

    private static void assertTooMany(ThrowingCallable request) {
        assertThatThrownBy(request).isInstanceOfSatisfying(GatewayError.class,
                refused -> assertThat(refused.code()).isEqualTo("too_many_requests"));
    }

    @Test
    void requestsOfAWorkspaceAreBounded() throws Exception {
        UUID full = UUID.randomUUID();
        for (int i = 0; i < WorkspaceRequests.IN_FLIGHT; i++) {
            requests.begin(full);
        }
        assertTooMany(() -> requests.begin(full));
        requests.begin(UUID.randomUUID());
        requests.end(full);
        requests.begin(full);
    }

    /** A client that hangs up does not end its request, whose answer is read to its end. */
    @Test
    void aRequestTakesMemoryUntilItsClientAndItsSenderHaveEnded() throws Exception {
        LeaseRequests lease = new LeaseRequests(requests, UUID.randomUUID(), keys -> List.of());
        InFlight large = lease.begin(MEMORY / 2);
        InFlight sent = large.shared();
        assertTooMany(() -> lease.begin(1));
        large.close();
        large.close();
        assertTooMany(() -> lease.begin(1));
        sent.close();
        try (InFlight further = lease.begin(0)) {
            further.take(MEMORY / 2);
            assertTooMany(() -> further.take(1));
        }
        lease.begin(MEMORY / 2).close();
    }

    @Test
    void refusedRequestsDoNotCount() throws Exception {
        LeaseRequests lease = new LeaseRequests(requests, UUID.randomUUID(), keys -> List.of());
        for (int i = 0; i < 2 * WorkspaceRequests.IN_FLIGHT; i++) {
            assertTooMany(() -> lease.begin(MEMORY));
        }
        lease.begin(1).close();
    }
}
