package io.keelson.server.outlet.notice;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Addresses of mailboxes: one each, without a name, comment or header. */
public final class MailAddress {

    private static final String ADDRESS =
            "[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,188}[A-Za-z0-9])?";
    private static final Pattern WHOLE = Pattern.compile(ADDRESS);
    private static final Pattern URL = Pattern.compile("(?i:mailto):(" + ADDRESS + ")");

    private MailAddress() {}

    /** Whether it is an address. */
    public static boolean isOne(String text) {
        return WHOLE.matcher(text).matches();
    }

    /** The address of a {@code mailto:} URL; null for another text, such as one with headers. */
    public static @Nullable String ofUrl(String url) {
        Matcher found = URL.matcher(url);
        return found.matches() ? found.group(1) : null;
    }
}
