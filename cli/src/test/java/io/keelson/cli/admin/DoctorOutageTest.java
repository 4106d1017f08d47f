package io.keelson.cli.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.InProcessCli;
import io.keelson.server.api.http.ApiServer;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DoctorOutageTest {

    @Test
    void doctorReportsAServerWhoseDatabaseTakesNoRows(@TempDir Path folder) throws Exception {
        try (ApiServer api = new ApiServer(folder)) {
            api.sql("""
                    create function full_disk() returns trigger language plpgsql as $$
                    begin raise exception 'could not extend file' using errcode = '53100'; end $$;
                    create trigger full_disk before insert on orchestration_runs
                        for each row execute function full_disk();
                    create function no_room() returns event_trigger language plpgsql as $$
                    begin raise exception 'could not extend file' using errcode = '53100'; end $$;
                    create event trigger no_room on ddl_command_start when tag in ('CREATE TABLE')
                        execute function no_room()""");
            assertThat(api.post("/api/v1/runs", ApiServer.WAITS).status()).isEqualTo(503);

            assertThat(InProcessCli.run(Map.of("KEELSON_DATA_DIR", folder.toString(), "KEELSON_URL",
                    api.url().toString(), "KEELSON_DATABASE_URL", "postgresql://u:p@127.0.0.1:1/d"), "doctor").out())
                    .contains("the server at " + api.url() + " accepts no runs");
        }
    }
}
