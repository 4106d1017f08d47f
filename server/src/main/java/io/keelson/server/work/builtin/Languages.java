package io.keelson.server.work.builtin;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A file's language by its name alone. */
final class Languages {

    private static final Map<String, String> BY_EXTENSION = new HashMap<>();
    private static final Map<String, String> BY_NAME = Map.of(
            "dockerfile", "Dockerfile", "makefile", "Makefile", "gnumakefile", "Makefile", "cmakelists.txt", "CMake",
            "jenkinsfile", "Groovy", "gemfile", "Ruby", "rakefile", "Ruby");

    static {
        for (String line : """
                Assembly: asm s
                Batchfile: bat cmd
                C: c h
                C#: cs
                C++: cc cpp cxx hh hpp hxx
                CMake: cmake
                CSS: css
                CSV: csv tsv
                Clojure: clj cljs cljc edn
                Dart: dart
                Elixir: ex exs
                Erlang: erl hrl
                F#: fs fsx
                Go: go
                GraphQL: graphql gql
                Groovy: groovy gradle
                HTML: html htm xhtml
                Haskell: hs
                INI: ini cfg conf properties
                JSON: json jsonl json5 webmanifest
                Java: java
                JavaScript: js mjs cjs jsx
                Julia: jl
                Kotlin: kt kts
                Less: less
                Lua: lua
                Markdown: md markdown mdx
                OCaml: ml mli
                Objective-C: m mm
                PHP: php
                Perl: pl pm
                PowerShell: ps1 psm1
                Protocol Buffers: proto
                Python: py pyi pyw
                R: r
                Ruby: rb
                Rust: rs
                SCSS: scss sass
                SQL: sql
                SVG: svg
                Scala: scala sc
                Shell: sh bash zsh fish ksh
                Svelte: svelte
                Swift: swift
                TOML: toml
                Terraform: tf tfvars hcl
                Text: txt text rst adoc
                TypeScript: ts tsx mts cts
                Vue: vue
                XML: xml xsd xsl xslt pom
                YAML: yaml yml
                Zig: zig
                """.lines().toList()) {
            int colon = line.indexOf(':');
            for (String extension : line.substring(colon + 1).strip().split(" ")) {
                BY_EXTENSION.put(extension, line.substring(0, colon));
            }
        }
    }

    private Languages() {}

    /** Null when the name says nothing. */
    static @Nullable String of(String path) {
        String name = path.substring(path.lastIndexOf('/') + 1).toLowerCase(Locale.ROOT);
        String known = BY_NAME.get(name);
        int dot = name.lastIndexOf('.');
        return known != null || dot < 0 ? known : BY_EXTENSION.get(name.substring(dot + 1));
    }
}
