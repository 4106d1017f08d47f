package io.keelson.cli.inbox;

import io.keelson.api.inbox.InboxDecision;
import io.keelson.api.inbox.InboxItem;
import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.Decided;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.Subject;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Inbox;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reviews inbox items interactively: one line per item with a, r, s or q, and an optional remark. */
final class InboxReview {

    private static final Set<String> WORDS =
            Set.of("a", "accept", "r", "reject", "s", "skip", "q", "quit");

    private final CliCommand command;
    private final Keelson keelson;
    private final Inbox inbox;
    private final BufferedReader answers = new BufferedReader(new InputStreamReader(System.in,
            Charset.defaultCharset()));

    InboxReview(CliCommand command, Keelson keelson) {
        this.command = command;
        this.keelson = keelson;
        this.inbox = keelson.inbox();
    }

    /** Reviews the items until the last one, {@code q} or the end of the input. */
    void through(List<InboxItem> items) throws IOException {
        for (int i = 0; i < items.size(); i++) {
            show(items.get(i), i + 1, items.size());
            String answer = answer();
            if (answer == null || word(answer).startsWith("q")) {
                return;
            }
            decide(items.get(i), answer);
        }
    }

    /** The next line that begins with one of the words; null at the end of the input. */
    private @Nullable String answer() throws IOException {
        String answer = answers.readLine();
        while (answer != null && !WORDS.contains(word(answer.strip()))) {
            command.print(List.of("please answer a, r, s or q; a remark may follow a or r"));
            answer = answers.readLine();
        }
        return answer == null ? null : answer.strip();
    }

    private static String word(String answer) {
        return answer.split("\\s+", 2)[0].toLowerCase(Locale.ROOT);
    }

    private void show(InboxItem item, int number, int of) {
        List<String> lines = new ArrayList<>(List.of("", number + "/" + of + "  " + title(item)));
        lines.addAll(details(item, command.style()));
        lines.add("[a]ccept, [r]eject, each with an optional remark; [s]kip, [q]uit");
        command.print(lines);
    }

    /** The kind of the question, its run and task, and its id. */
    static String title(InboxItem item) {
        String key = TerminalText.clean(item.taskKey());
        String title = TerminalText.clean(Objects.requireNonNullElse(item.taskTitle(), key));
        return item.kind() + (item.runName() == null ? "" : " of " + TerminalText.clean(item.runName()))
                + (key.isEmpty() ? "" : ", task " + key)
                + (title.equals(key) ? "" : " (" + title + ")") + "  " + item.id();
    }

    /** The question, its subject, and the effect of either answer. */
    static List<String> details(InboxItem item, Style style) {
        List<String> lines = new ArrayList<>(List.of("  " + TerminalText.clean(item.question())));
        if (item.body() != null) {
            lines.add("  " + TerminalText.clean(item.body()));
        }
        lines.addAll(Subject.item(item, style));
        if (item.feedback() != null) {
            lines.add("  " + TerminalText.clean(item.feedback()));
        }
        if (item.approvals() != null) {
            lines.add("  " + Votes.line(item.approvals()));
        }
        lines.add("  accept: " + item.onAccept());
        lines.add("  reject: " + item.onReject());
        String subject = item.links().subject().substring(item.links().subject().lastIndexOf('/') + 1);
        if (item.data() != null && item.data().path("undo").asBoolean(false)) {
            lines.add("  done by hand: " + ProgramName.current() + " resolve " + subject + " done");
        }
        if (item.data() != null && item.data().path("alike").asInt(1) > 1) {
            lines.add("  all " + item.data().path("alike").asInt() + ": " + ProgramName.current() + " resolve "
                    + subject + " resume|skip --alike");
        }
        return lines;
    }

    /** Decides an item; if it was already decided elsewhere, prints a note and continues. */
    private void decide(InboxItem item, String answer) {
        String word = word(answer);
        String remark = answer.contains(" ") ? answer.substring(answer.indexOf(' ')).strip() : null;
        try {
            if (!word.startsWith("a") && !word.startsWith("r")) {
                command.print(List.of("skipped"));
                return;
            }
            InboxDecision made = word.startsWith("a") ? inbox.accept(item.id(), remark)
                    : inbox.reject(item.id(), remark);
            command.print(List.of(made.decision() + Votes.after(made.approvals())));
        } catch (KeelsonException e) {
            String kind = item.id().substring(0, item.id().indexOf('_'));
            String part = item.id().substring(item.id().indexOf('_') + 1);
            String run = item.runId();
            RuntimeException refusal = run == null ? e
                    : Decided.repeats(kind) ? Decided.beforeQuestion(keelson, e, kind, part)
                            : Decided.before(keelson, e, run, part);
            command.note(refusal.getMessage() + " [" + e.code() + "]");
        }
    }
}
