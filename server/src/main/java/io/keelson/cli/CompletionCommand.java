package io.keelson.cli;

import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(name = "completion", description = "Prints a completion script for bash and zsh.",
        footerHeading = "%nExamples:%n", footer = "  source <(keelson completion)")
final class CompletionCommand implements Runnable {

    @Spec
    CommandSpec spec;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help.")
    boolean help;

    @Override
    public void run() {
        spec.commandLine().getOut().print(AutoComplete.bash("keelson", spec.root().commandLine()));
        spec.commandLine().getOut().flush();
    }
}
