package io.keelson.server.engine.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.engine.store.read.StepWorkReader.Owner;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class AssignedStepsTest {

    private static final UUID WORKSPACE = UUID.randomUUID();
    private static final Owner OWNER = new Owner(UUID.randomUUID(), UUID.randomUUID(), "\"${.inputs.a}\"");

    private final AssignedSteps steps = new AssignedSteps();
    private final UUID step = UUID.randomUUID();

    @Test
    void knowsTheOwnerUntilTheInputIsTaken() {
        steps.put(WORKSPACE, step, 1, OWNER, "\"a\"");

        assertThat(steps.owner(WORKSPACE, step, 1)).isEqualTo(OWNER);
        assertThat(steps.take(WORKSPACE, step, 1)).isEqualTo("\"a\"");
        assertThat(steps.owner(WORKSPACE, step, 1)).isNull();
        assertThat(steps.take(WORKSPACE, step, 1)).isNull();
    }

    @Test
    void knowsNothingOfAnotherLeaseOrForAnotherWorkspace() {
        steps.put(WORKSPACE, step, 1, OWNER, null);

        assertThat(steps.owner(WORKSPACE, step, 2)).isNull();
        assertThat(steps.owner(UUID.randomUUID(), step, 1)).isNull();
    }

    @Test
    void dropsTheOldestWhenItHasTooMuch() {
        steps.put(WORKSPACE, step, 1, OWNER, "x".repeat(1 << 20));
        for (int i = 0; i < 7; i++) {
            steps.put(WORKSPACE, UUID.randomUUID(), 1, OWNER, "x".repeat(1 << 20));
        }
        UUID last = UUID.randomUUID();
        steps.put(WORKSPACE, last, 1, OWNER, null);

        assertThat(steps.owner(WORKSPACE, step, 1)).isNull();
        assertThat(steps.owner(WORKSPACE, last, 1)).isEqualTo(OWNER);
    }

    @Test
    void takenStepsLeaveRoomForOthers() {
        for (int i = 0; i < 20; i++) {
            steps.put(WORKSPACE, step, i, OWNER, "x".repeat(1 << 20));
            assertThat(steps.take(WORKSPACE, step, i)).isNotNull();
        }
        steps.put(WORKSPACE, step, 1, OWNER, null);

        assertThat(steps.owner(WORKSPACE, step, 1)).isEqualTo(OWNER);
    }
}
