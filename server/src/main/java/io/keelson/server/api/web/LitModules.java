package io.keelson.server.api.web;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** The modules of Lit that the page may import, from Lit's jars on the class path. */
final class LitModules {

    private static final String HTML = "lit-html/3.3.3";
    private static final String ELEMENT = "lit-element/4.2.2";
    private static final String REACTIVE = "reactive-element/2.1.2";

    private LitModules() {}

    /** Specifier of an import to the module's file below {@code META-INF/resources/_static}. */
    private static Map<String, String> files() {
        Map<String, String> files = new LinkedHashMap<>();
        files.put("lit", ELEMENT + "/lit-element.js"); // has all that lit/index.js has, without a module of its own
        files.put("lit/directive.js", HTML + "/directive.js");
        files.put("lit/directives/repeat.js", HTML + "/directives/repeat.js");
        files.put("lit-html", HTML + "/lit-html.js");
        files.put("lit-html/directive-helpers.js", HTML + "/directive-helpers.js");
        files.put("@lit/reactive-element", REACTIVE + "/reactive-element.js");
        files.put("@lit/reactive-element/css-tag.js", REACTIVE + "/css-tag.js");
        return files;
    }

    /** Specifier to path below the folder of assets. */
    static Map<String, String> specifiers() {
        Map<String, String> all = new LinkedHashMap<>();
        files().forEach((specifier, file) -> all.put(specifier, "lib/" + file));
        return all;
    }

    /** Path below the folder of assets to content. */
    static Map<String, byte[]> contents() {
        Map<String, byte[]> all = new LinkedHashMap<>();
        files().values().forEach(file -> all.put("lib/" + file, content(file)));
        return all;
    }

    private static byte[] content(String file) {
        try (InputStream bytes = LitModules.class.getResourceAsStream("/META-INF/resources/_static/" + file)) {
            if (bytes == null) {
                throw new IllegalStateException("not on the class path: " + file);
            }
            return bytes.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
