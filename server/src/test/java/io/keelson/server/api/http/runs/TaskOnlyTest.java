package io.keelson.server.api.http.runs;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.json.Json;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** Which parts of a mission a fork of one task leaves out. */
class TaskOnlyTest {

    @Test
    void retriesKeepTheModelAndPeopleAreNotAsked() {
        ObjectNode mission = (ObjectNode) Json
                .read("""
                {"config": {"ladder": [{"to": "human"}], "retry": {"context": "keep", "escalate_model": "large"}},
                 "plan": {"tasks": [{"temp_id": "a", "retry": {"max_attempts": 2, "escalate_model": "large"},
                   "verify": [{"kind": "jq", "expression": "true"}, {"kind": "human"}]}, {"temp_id": "b", "depends_on": ["a"]}]}}""");
        TaskOnly.reduce(mission, "a");
        assertThat(mission).isEqualTo(Json.read("""
                {"config": {"retry": {"context": "keep"}, "autonomy": {"level": "full_auto"}},
                 "plan": {"tasks": [{"temp_id": "a", "retry": {"max_attempts": 2},
                   "verify": [{"kind": "jq", "expression": "true"}]}]}}"""));
    }
}
