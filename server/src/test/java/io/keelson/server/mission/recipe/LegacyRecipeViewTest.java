package io.keelson.server.mission.recipe;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

class LegacyRecipeViewTest {

    @Test
    void aStepHasItsModelElseTheOnePreferredForItsType() {
        ArrayNode steps = LegacyRecipeView.steps((ObjectNode) JsonMapper.shared().readTree("""
                {"config": {"model_preferences": {"researcher": "small", "writer": "large"}}, "plan": {"tasks": [
                  {"id": "a", "task_type": "research"}, {"id": "b", "task_type": "writing", "suggested_model": "own"},
                  {"id": "c", "task_type": "writing"}, {"id": "d", "task_type": "other"}]}}"""));

        assertThat(steps.valueStream().map(step -> step.get("model_override")).map(JsonNode::toString))
                .containsExactly("\"small\"", "\"own\"", "\"large\"", "null");
    }
}
