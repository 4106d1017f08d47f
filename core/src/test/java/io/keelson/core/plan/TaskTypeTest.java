package io.keelson.core.plan;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** PRD-101 and AC-16. */
class TaskTypeTest {

    @Test
    void plansChooseAmongTheSeedsTypes() {
        assertThat(TaskType.ofPlans().stream().map(TaskType::wire)).containsExactly("research", "analysis", "writing",
                "coding", "verification", "review", "synthesis", "other");
    }

    @ParameterizedTest
    @EnumSource
    void typeIsReadInItsWrittenForm(TaskType type) {
        assertThat(TaskType.of(type.wire())).isEqualTo(type);
        assertThat(TaskType.of(type.wire() + "?")).isEqualTo(TaskType.OTHER);
    }
}
