package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A report's own text. */
class ReportTextsApiTest {

    @TempDir
    Path data;

    private ApiServer api;
    private String run;

    @BeforeEach
    void end() throws Exception {
        api = new ApiServer(data);
        run = api.create("""
                {"name": "Survey", "goal": "Find out", "start": true, "plan": {"tasks": [
                  {"id": "find", "title": "Find", "description": "Look around",
                   "steps": [{"name": "look", "tool": "echo", "input": {"text": "seen"}}]}]}}""");
        api.awaitState(run, "completed");
    }

    @AfterEach
    void close() {
        api.close();
    }

    @Test
    void reportKeepsItsTextAfterItsSubjectIsDeleted() {
        assertThat(texts()).hasSize(2).anySatisfy(text -> assertThat(text).contains("## What was done", "(`echo`)"));
        for (String table : List.of("orchestration_runs", "orchestration_tasks")) {
            api.sql("alter table " + table + " disable trigger user");
        }
        api.sql("delete from orchestration_runs where id = '" + run + "'");

        assertThat(texts()).hasSize(2)
                .anySatisfy(text -> assertThat(text).startsWith("# Survey\n").contains("> Find out\n",
                        "- Find (`find`): completed\n", "\"seen\"", "- Tasks: 1, completed 1"))
                .anySatisfy(text -> assertThat(text).startsWith("# Find\n").contains("> Look around\n",
                        "## Output", "\"seen\"", "## Figures").doesNotContain("## What was done"));
    }

    @Test
    void aReportOfAnOlderServerIsReadAsLongAsItsSourceIsThere() {
        List<String> before = texts();
        api.sql("update agent_reports set content = ''");

        assertThat(texts()).isEqualTo(before);
    }

    private List<String> texts() {
        return api.get("/api/v1/reports?run_id=" + run).json().get("items").valueStream()
                .map(report -> api.get("/api/v1/reports/" + report.get("id").stringValue()).json().get("content")
                        .stringValue())
                .toList();
    }
}
