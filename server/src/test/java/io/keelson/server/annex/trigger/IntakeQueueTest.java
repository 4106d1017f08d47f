package io.keelson.server.annex.trigger;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.UUID;
import org.junit.jupiter.api.Test;

class IntakeQueueTest {

    private static final UUID A = new UUID(0, 1);
    private static final UUID B = new UUID(0, 2);

    private final IntakeQueue<String> queue = new IntakeQueue<>(new IntakeQueue.Bounds(6, 100));

    private boolean offered(UUID workspace, String name, long chars) {
        return queue.offer(workspace, new IntakeQueue.Waiting<>(name, 1, chars));
    }

    @Test
    void workspacesTakeTurns() {
        offered(A, "a1", 1);
        offered(A, "a2", 1);
        offered(A, "a3", 1);
        offered(B, "b1", 1);

        assertThat(queue.take()).containsExactly("a1", "b1", "a2", "a3");
        assertThat(queue.take()).isEmpty();
    }

    @Test
    void halfOfThePlacesIsTheMostOfAWorkspace() {
        assertThat(offered(A, "a1", 1)).isTrue();
        assertThat(offered(A, "a2", 1)).isTrue();
        assertThat(offered(A, "a3", 1)).isTrue();
        assertThat(offered(A, "a4", 1)).isFalse();
        assertThat(offered(B, "b1", 1)).isTrue();
        queue.take();
        assertThat(offered(A, "a4", 1)).isTrue();
    }

    @Test
    void textsAreBounded() {
        assertThat(offered(A, "a1", 40)).isTrue();
        assertThat(offered(A, "a2", 11)).isFalse();
        assertThat(offered(B, "b1", 60)).isTrue();
        assertThat(offered(new UUID(0, 3), "c1", 1)).isFalse();
        queue.take();
        assertThat(offered(A, "larger than the bound", 1000)).isTrue();
    }

    @Test
    void requestsAreTakenUpToABound() {
        IntakeQueue<Integer> wide = new IntakeQueue<>(IntakeQueue.Bounds.DEFAULTS);
        for (int i = 0; i < 300; i++) {
            wide.offer(A, new IntakeQueue.Waiting<>(i, 1, 10));
        }

        assertThat(wide.take()).hasSize(256).startsWith(0, 1);
        assertThat(wide.take()).hasSize(44);
        wide.offer(A, new IntakeQueue.Waiting<>(1, 1000, 10));
        assertThat(wide.take()).containsExactly(1);
        assertThat(wide.size()).isZero();
    }
}
