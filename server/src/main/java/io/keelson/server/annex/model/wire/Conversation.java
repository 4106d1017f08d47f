package io.keelson.server.annex.model.wire;

import io.keelson.server.annex.model.Call;
import io.keelson.server.annex.model.CallResult;
import io.keelson.server.annex.model.Message;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Puts the parts of a program's conversation together to messages: an answer with its calls, and all results of these calls. */
final class Conversation {
    private final List<String> instructions = new ArrayList<>();
    private final List<Message> messages = new ArrayList<>();
    private final Map<String, String> tools = new HashMap<>();

    /** @throws UnfitException for instructions after the first message */
    void instruct(String text) throws UnfitException {
        if (!messages.isEmpty()) {
            throw new UnfitException("a message of the system after others");
        }
        if (!text.isBlank()) {
            instructions.add(text);
        }
    }

    void addUser(String text) {
        messages.add(new Message.User(text));
    }

    void addText(String text) {
        if (!text.isEmpty()) {
            assistant(text, List.of());
        }
    }

    void addCall(Call call) {
        tools.put(call.id(), call.name());
        assistant("", List.of(call));
    }

    private void assistant(String more, List<Call> calls) {
        String text = more;
        List<Call> all = new ArrayList<>();
        if (!messages.isEmpty() && messages.getLast() instanceof Message.Assistant last) {
            messages.removeLast();
            text = last.text().isEmpty() || more.isEmpty() ? last.text() + more : last.text() + "\n" + more;
            all.addAll(last.calls());
        }
        all.addAll(calls);
        messages.add(new Message.Assistant(text, all, null));
    }

    void addResult(String call, String text, boolean isError) {
        List<CallResult> all = new ArrayList<>();
        if (!messages.isEmpty() && messages.getLast() instanceof Message.ToolResults(List<CallResult> results)) {
            messages.removeLast();
            all.addAll(results);
        }
        all.add(new CallResult(call, tools.getOrDefault(call, ""), text, isError));
        messages.add(new Message.ToolResults(all));
    }

    String instructions() {
        return String.join("\n\n", instructions);
    }

    List<Message> messages() {
        return List.copyOf(messages);
    }
}
