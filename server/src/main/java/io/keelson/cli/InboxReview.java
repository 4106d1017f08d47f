package io.keelson.cli;

import io.keelson.cli.view.Cells;
import io.keelson.cli.view.Subject;
import io.keelson.client.Inbox;
import io.keelson.client.InboxItem;
import io.keelson.client.KeelsonException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Goes through the inbox with somebody who answers line by line: a, r, s or q, and then perhaps a remark. */
final class InboxReview {

    private final CliCommand command;
    private final Inbox inbox;
    private final BufferedReader answers = new BufferedReader(new InputStreamReader(System.in,
            Charset.defaultCharset()));

    InboxReview(CliCommand command, Inbox inbox) {
        this.command = command;
        this.inbox = inbox;
    }

    /** Until the last one, {@code q} or the end of what is said. */
    void through(List<InboxItem> items) throws IOException {
        for (int i = 0; i < items.size(); i++) {
            show(items.get(i), i + 1, items.size());
            String answer = answers.readLine();
            if (answer == null || answer.strip().toLowerCase(Locale.ROOT).startsWith("q")) {
                return;
            }
            decide(items.get(i), answer.strip());
        }
    }

    private void show(InboxItem item, int number, int of) {
        List<String> lines = new ArrayList<>(List.of("",
                number + "/" + of + "  " + item.kind() + " of " + Cells.clean(item.runName()) + "  " + item.id(),
                "  " + Cells.clean(item.question())));
        if (item.body() != null) {
            lines.add("  " + Cells.clean(item.body()));
        }
        if (item.data() != null) {
            lines.addAll(item.kind().equals("plan_approval")
                    ? Subject.plan(item.data().path("plan"), item.data().path("task_count").asInt(0), command.style())
                    : Subject.data(item.data(), command.style()));
        }
        if (item.feedback() != null) {
            lines.add("  " + Cells.clean(item.feedback()));
        }
        lines.add("  accept: " + item.onAccept());
        lines.add("  reject: " + item.onReject());
        lines.add("[a]ccept, [r]eject, each with a remark behind it; [s]kip, [q]uit");
        command.print(lines);
    }

    /** One that somebody else has decided meanwhile is told of, and the next one is asked about. */
    private void decide(InboxItem item, String answer) {
        String word = answer.split("\\s+", 2)[0].toLowerCase(Locale.ROOT);
        String remark = answer.contains(" ") ? answer.substring(answer.indexOf(' ')).strip() : null;
        try {
            switch (word) {
                case "a", "accept" -> inbox.accept(item.id(), remark);
                case "r", "reject" -> inbox.reject(item.id(), remark);
                default -> {
                    command.print(List.of("skipped"));
                    return;
                }
            }
            command.print(List.of(word.startsWith("a") ? "accepted" : "rejected"));
        } catch (KeelsonException e) {
            command.note(e.getMessage() + " [" + e.code() + "]");
        }
    }
}
