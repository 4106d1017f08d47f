package io.keelson.cli.definitions;

import io.keelson.api.tenant.Secret;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.DocumentFile;
import io.keelson.cli.common.ListCommand;
import io.keelson.cli.view.AmountText;
import io.keelson.client.Keelson;
import java.io.Console;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(name = "secrets", description = "Lists the workspace's secrets by name; their values are never shown.",
        subcommands = {SecretsCommand.Set.class, SecretsCommand.Remove.class},
        footer = {"  keelson secrets", "  keelson secrets set crm-token",
                "  keelson secrets set crm-token --file token.txt",
                "  printf %%s \"$TOKEN\" | keelson secrets set crm-token", "",
                "In a plan, the input of a tool names it: \"Bearer $${ secret(\"crm-token\") }\""})
public final class SecretsCommand extends ListCommand<Secret> {

    SecretsCommand() {
        super("no secrets", "NAME", "VERSION", "SET");
    }

    @Override
    protected List<Secret> items(Keelson keelson) {
        return keelson.secrets().list();
    }

    @Override
    protected JsonNode document(Keelson keelson) {
        return keelson.api().get("/secrets");
    }

    @Override
    protected List<String> row(Secret secret) {
        return List.of(secret.name(), String.valueOf(secret.version()),
                AmountText.duration(Duration.between(secret.updatedAt(), clock().instant())) + " ago");
    }

    @Command(name = "set",
            description = "Sets a secret. The value is read from standard input, from a file, or from a prompt without echo; never from the command line.")
    static final class Set extends ChangeCommand {

        @Parameters(index = "0", paramLabel = "NAME", description = "Letters, digits, '.', '_' and '-'.")
        String name = "";

        @Option(names = "--file", paramLabel = "FILE",
                description = "Read the value from this file; a trailing line end is removed.")
        @Nullable Path file;

        private String value = "";

        @Override
        protected void prepare() throws IOException {
            value = value();
        }

        @Override
        protected void run(Keelson keelson) {
            Secret set = keelson.secrets().set(name, value);
            print(() -> keelson.api().get("/secrets"),
                    () -> List.of(set.name() + " is set, version " + set.version()));
        }

        private String value() throws IOException {
            if (file != null) {
                return text(DocumentFile.bytes(file.toString(), "secret"));
            }
            Console console = System.console();
            if (console != null && console.isTerminal()) {
                char[] typed = console.readPassword("Value of %s (not shown): ", name);
                return typed == null ? "" : new String(typed);
            }
            return text(System.in.readAllBytes());
        }

        /** Without a last line end. */
        private static String text(byte[] value) {
            try {
                return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(value)).toString()
                        .replaceFirst("\\R\\z", "");
            } catch (CharacterCodingException e) {
                throw CliException.usage("SECRET_NOT_TEXT",
                        "a secret must be UTF-8 text; encode other data, such as with base64");
            }
        }
    }

    @Command(name = "remove", description = "Removes a secret. Steps that use it then fail.")
    static final class Remove extends ChangeCommand {

        @Parameters(index = "0", paramLabel = "NAME", description = "Name that keelson secrets lists.")
        String name = "";

        @Override
        protected void run(Keelson keelson) {
            keelson.secrets().remove(name);
            say(name + " is removed");
        }
    }
}
