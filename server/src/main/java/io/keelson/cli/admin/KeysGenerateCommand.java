package io.keelson.cli.admin;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.client.Json;
import io.keelson.server.Settings;
import java.util.List;
import picocli.CommandLine.Command;

@Command(name = "generate",
        description = "Prints a new random key for KEELSON_BOOTSTRAP_KEY, without contacting a server.",
        footerHeading = "%nExamples:%n", footer = {
                "  KEELSON_BOOTSTRAP_KEY=$(keelson keys generate) keelson server",
                "  kubectl create secret generic keelson --from-literal=bootstrap-key=\"$(keelson keys generate)\""})
final class KeysGenerateCommand extends CliCommand {

    @Override
    public Integer call() {
        String key = Settings.newBootstrapKey();
        if (json) {
            print(Json.object().put("key", key));
        } else {
            print(List.of(key));
        }
        return ExitCode.OK;
    }
}
