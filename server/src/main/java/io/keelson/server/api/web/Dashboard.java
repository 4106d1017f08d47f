package io.keelson.server.api.web;

import io.keelson.server.base.json.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The dashboard as files. Assets are below {@code /ui/f/} under names with a hash of their content, which browsers keep
 * for ever; the page's import map leads from plain names to them. Every other path below {@code /ui/} is the page.
 */
public final class Dashboard {

    private static final String ASSETS = "/ui/f/";
    private static final String PAGE = "index.html";
    private static final String STYLE = "look.css";
    private static final String ICON = "icon.svg";
    /** The icon is in the page: a request of its own would take as long as a large module. */
    private static final String ICON_URL = "data:image/svg+xml;base64,";
    private static final int HASH_DIGITS = 12;
    private static final String POLICY = "default-src 'none'; script-src 'self' 'sha256-%s'; style-src 'self'; "
            + "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-src 'self' blob:; base-uri 'none'; "
            + "form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
            + "trusted-types lit-html";
    private static final Map<String, String> TYPES = Map.of("js", "text/javascript; charset=utf-8", "css",
            "text/css; charset=utf-8", "svg", "image/svg+xml", "html", "text/html; charset=utf-8", "woff2",
            "font/woff2", "txt", "text/plain; charset=utf-8");

    /**
     * One reading of the sources.
     *
     * @param assets by hashed name
     * @param pages the page by its first module; the pages differ in the files that the browser requests at once
     * @param other for any other address
     */
    private record Edition(Map<String, WebFile> assets, Map<String, WebFile> pages, WebFile other) {}

    /** The files of the jar, read when the first page is asked for. */
    private static final class Packed {
        static final Edition EDITION = edition(null);
    }

    private final @Nullable Path folder;

    /** @param folder is read again for every page while one works on it; null for the files of the jar, read once */
    public Dashboard(@Nullable Path folder) {
        this.folder = folder;
    }

    /**
     * The file of a path that begins with {@code /ui/}.
     *
     * @return null for an asset that is not there
     */
    public @Nullable WebFile find(String path) {
        Edition now = folder == null ? Packed.EDITION : edition(folder);
        return path.startsWith(ASSETS) ? now.assets.get(path.substring(ASSETS.length()))
                : now.pages.getOrDefault(FirstModules.page(path), now.other);
    }

    private static Edition edition(@Nullable Path folder) {
        Map<String, byte[]> sources = new TreeMap<>(WebSources.read(folder));
        sources.replaceAll(WebSources::withoutComments);
        String page = text(Objects.requireNonNull(sources.remove(PAGE), PAGE));
        String icon = ICON_URL + Base64.getEncoder()
                .encodeToString(Objects.requireNonNull(sources.remove(ICON), ICON));
        sources.put(STYLE, styles(sources));
        sources.keySet().removeIf(name -> name.startsWith("look/"));
        sources.putAll(LitModules.contents());
        Map<String, WebFile> assets = new LinkedHashMap<>();
        Map<String, String> names = new LinkedHashMap<>();
        sources.forEach((name, bytes) -> {
            String hashed = hashed(name, bytes);
            names.put(name, hashed);
            assets.put(hashed, WebFile.of(bytes, Map.of("Content-Type", type(name), "Cache-Control",
                    "public, max-age=31536000, immutable", "Cross-Origin-Resource-Policy", "same-origin")));
        });
        Page template = new Page(page.replace("@ICON@", icon), names);
        Map<String, WebFile> pages = new HashMap<>();
        sources.keySet().stream().filter(FirstModules::isPage)
                .forEach(name -> pages.put(name, template.with(FirstModules.of(sources, name))));
        return new Edition(assets, pages, template.with(FirstModules.of(sources, null)));
    }

    /** All styles in one file, in the order of their names; fonts are named as browsers keep them. */
    private static byte[] styles(Map<String, byte[]> sources) {
        String styles = sources.entrySet().stream().filter(each -> each.getKey().startsWith("look/"))
                .map(each -> text(each.getValue())).collect(Collectors.joining("\n"));
        for (Map.Entry<String, byte[]> font : sources.entrySet()) {
            if (font.getKey().startsWith("font/")) {
                styles = styles.replace(font.getKey(), ASSETS + hashed(font.getKey(), font.getValue()));
            }
        }
        return styles.getBytes(StandardCharsets.UTF_8);
    }

    /** @param names plain name of an asset to its hashed name */
    private record Page(String template, Map<String, String> names) {

        /** @param first the modules that the browser asks for at once */
        private WebFile with(Set<String> first) {
            ObjectNode imports = Json.object();
            names.forEach((name, hashed) -> {
                if (name.endsWith(".js")) {
                    imports.put(ASSETS + name, ASSETS + hashed);
                }
            });
            LitModules.specifiers().forEach((specifier, name) -> imports.put(specifier, ASSETS + names.get(name)));
            String map = text(Json.write(Json.object().set("imports", imports)));
            String preloads = first.stream()
                    .map(name -> "<link rel=\"modulepreload\" href=\"" + ASSETS + names.get(name) + "\">")
                    .collect(Collectors.joining("\n"));
            String html = template.replace("@IMPORTS@", map).replace("@PRELOADS@", preloads)
                    .replace("@STYLE@", ASSETS + names.get(STYLE)).replace("@ME@", ASSETS + names.get(FirstModules.ME))
                    .replace("@APP@", ASSETS + names.get(FirstModules.APP));
            Map<String, String> headers = new LinkedHashMap<>();
            headers.put("Content-Type", "text/html; charset=utf-8");
            headers.put("Cache-Control", "no-cache");
            headers.put("Content-Security-Policy", POLICY.formatted(
                    Base64.getEncoder().encodeToString(sha256(map.getBytes(StandardCharsets.UTF_8)))));
            headers.put("Referrer-Policy", "no-referrer");
            headers.put("Cross-Origin-Opener-Policy", "same-origin");
            return WebFile.of(html.getBytes(StandardCharsets.UTF_8), headers);
        }
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static String hashed(String name, byte[] bytes) {
        int dot = name.lastIndexOf('.');
        return name.substring(0, dot) + "." + HexFormat.of().formatHex(sha256(bytes)).substring(0, HASH_DIGITS)
                + name.substring(dot);
    }

    private static String type(String name) {
        return TYPES.getOrDefault(name.substring(name.lastIndexOf('.') + 1), "application/octet-stream");
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
