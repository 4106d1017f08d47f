package io.keelson.cli.common;

import io.keelson.cli.view.AmountText;
import io.keelson.core.plan.PlanProblem;
import io.keelson.server.base.problem.FileProblems;
import io.keelson.server.mission.plan.Documents;
import io.keelson.server.mission.plan.Format;
import io.keelson.server.mission.plan.ReadResult;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/** A file of YAML or JSON that contains an object, whose problems are reported with their lines. */
public final class DocumentFile {

    private final String name;
    private final String kind;
    private final byte[] bytes;
    private JsonNode document = MissingNode.getInstance();

    private DocumentFile(String name, String kind, byte[] bytes) {
        this.name = name;
        this.kind = kind;
        this.bytes = bytes;
    }

    /**
     * @param file {@code -} for standard input
     * @param kind the noun for its content, such as {@code mission}
     * @param code the code of the error where the file is no object in YAML or JSON
     */
    public static DocumentFile read(String file, String kind, String code) {
        DocumentFile read = new DocumentFile(file, kind, bytes(file, kind));
        switch (Documents.read(read.bytes, Format.ofFile(file))) {
            case ReadResult.Invalid<JsonNode>(List<PlanProblem> problems) -> throw read.invalid(code, problems);
            case ReadResult.Ok<JsonNode>(ObjectNode object) -> read.document = object;
            case ReadResult.Ok<JsonNode>(JsonNode other) -> throw read.invalid(code, List.of(new PlanProblem(
                    "WRONG_TYPE", "", "a " + kind + " is an object, not "
                            + other.getNodeType().name().toLowerCase(Locale.ROOT))));
        }
        return read;
    }

    /**
     * The content of a file that an option names.
     *
     * @param file {@code -} for standard input
     * @param kind the noun for its content, such as {@code mission}
     * @throws CliException if the file does not exist or cannot be read
     */
    public static byte[] bytes(String file, String kind) {
        try {
            if (!file.equals("-") && Files.isDirectory(Path.of(file))) {
                throw CliException.usage("FILE_UNREADABLE", file.isEmpty()
                        ? "the name of the " + kind + " file is empty"
                        : file + " is a folder, not a " + kind + " file");
            }
            return file.equals("-") ? System.in.readAllBytes() : Files.readAllBytes(Path.of(file));
        } catch (NoSuchFileException e) {
            throw CliException.usage("FILE_NOT_FOUND", "file not found: " + file);
        } catch (IOException e) {
            throw CliException.usage("FILE_UNREADABLE", "cannot read " + file + ": " + FileProblems.reason(e));
        }
    }

    public ObjectNode document() {
        return (ObjectNode) document;
    }

    /** The file's problems, each with the line of its pointer. */
    public CliException invalid(String code, List<PlanProblem> problems) {
        return invalid(code, problems, pointer -> true);
    }

    /** @param inFile whether a pointer is into the file */
    CliException invalid(String code, List<PlanProblem> problems, Predicate<String> inFile) {
        SourceLines lines = new SourceLines(new String(bytes, StandardCharsets.UTF_8));
        return CliException.invalid(code,
                (name.equals("-") ? "the text on standard input" : name) + " is not a valid " + kind + ": "
                        + AmountText.count(problems.size(), "problem"),
                problems, pointer -> pointer.isEmpty() || !inFile.test(pointer) ? Optional.empty() : lines.of(pointer));
    }
}
