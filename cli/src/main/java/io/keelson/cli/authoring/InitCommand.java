package io.keelson.cli.authoring;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ProgramName;
import io.keelson.server.base.problem.FileProblems;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "init", description = "Writes a sample mission file that runs unchanged.",
        footer = {"  keelson init", "  keelson init report.yaml"})
public final class InitCommand extends CliCommand {

    private static final String MISSION = """
            # Greets each name and writes the greetings to a file: docs/guide/missions.md has the whole language.
            name: hello
            inputs:
              names: {type: array, items: {type: string}, default: [Ada, Grace]}
            plan:
              tasks:
                - id: greet
                  title: Greet everyone
                  for_each: "${ .inputs.names }"
                  label: "Greet ${ .item }"
                  steps:
                    - {name: say, tool: text.template, input: {template: "Hello {{name}}!", data: {name: "${ .item }"}}}
                - id: letter
                  title: Write the letter
                  depends_on: [greet]
                  steps:
                    - name: write
                      tool: artifact.write
                      input: {name: letter.txt, content: "${ .tasks.greet.output | join(\\"\\\\n\\") }"}
            output: "${ .tasks.greet.output }"
            """;

    @Parameters(paramLabel = "FILE", arity = "0..1", defaultValue = "mission.yaml",
            description = "The file to write, which must not exist; ${DEFAULT-VALUE} when not given.")
    Path file;

    @Override
    public Integer call() {
        try {
            Files.writeString(file, MISSION, StandardOpenOption.CREATE_NEW);
        } catch (FileAlreadyExistsException e) {
            throw CliException.usage("FILE_EXISTS", "file " + file + " already exists");
        } catch (IOException e) {
            throw CliException.usage("FILE_NOT_WRITABLE", "cannot write " + file + ": " + FileProblems.reason(e));
        }
        print(List.of("wrote " + file));
        note("run it with: " + ProgramName.current() + " run " + file);
        return ExitCode.OK;
    }
}
