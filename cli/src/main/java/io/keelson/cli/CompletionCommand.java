package io.keelson.cli;

import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(name = "completion", description = "Prints a completion script for bash and zsh.",
        footer = {
                "  source <(keelson completion bash)", "  source <(keelson completion zsh)"})
final class CompletionCommand implements Runnable {

    /** Shells with a completion script. */
    enum Shell {
        BASH, ZSH
    }

    @Spec
    CommandSpec spec;

    @Parameters(arity = "0..1", paramLabel = "SHELL", description = "bash or zsh, which take the same script.",
            defaultValue = "bash")
    Shell shell = Shell.BASH;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help.")
    boolean help;

    @Override
    public void run() {
        spec.commandLine().getOut().print(AutoComplete.bash("keelson", spec.root().commandLine()));
        spec.commandLine().getOut().flush();
    }
}
