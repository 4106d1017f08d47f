package io.keelson.server.base.expr;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The functions that every program can call: {@link JqNatives} in Java, and these in jq. */
final class JqBuiltins {

    private static final Set<String> IMPURE = Set.of("now", "localtime", "strflocaltime", "env", "input", "inputs",
            "debug", "stderr", "halt", "halt_error", "input_filename", "input_line_number", "builtins", "modulemeta",
            "get_search_list", "have_decnum", "gmtime", "mktime", "strftime",
            "strptime", "dateadd", "datesub", "date");

    private static final String IN_JQ = """
            def map(f): [.[] | f];
            def select(f): if f then . else empty end;
            def recurse(f): def r: ., (f | r); r;
            def recurse(f; cond): def r: ., (f | select(cond) | r); r;
            def recurse: ..;
            def values: select(. != null);
            def nulls: select(. == null);
            def booleans: select(type == "boolean");
            def numbers: select(type == "number");
            def strings: select(type == "string");
            def arrays: select(type == "array");
            def objects: select(type == "object");
            def iterables: select(type | . == "array" or . == "object");
            def scalars: select(type | . != "array" and . != "object");
            def finites: select(isinfinite or isnan | not);
            def normals: select(isnormal);
            def isfinite: type == "number" and (isinfinite | not);
            def isvalid(f): try (f | true) catch false;
            def map_values(f): .[] |= f;
            def abs: if type == "number" and . < 0 then -. else . end;
            def add(f): reduce f as $x (null; . + $x);
            def in(xs): . as $x | xs | has($x);
            def inside(xs): . as $x | xs | contains($x);
            def repeat(f): def _r: f, _r; _r;
            def while(cond; update): def _w: if cond then ., (update | _w) else empty end; _w;
            def until(cond; update): def _u: if cond then . else (update | _u) end; _u;
            def range($from; $upto): range($from; $upto; 1);
            def range($upto): range(0; $upto);
            def first: .[0];
            def last: .[-1];
            def nth($n): .[$n];
            def isempty(g): label $out | (g | false, break $out), true;
            def skip($n; f):
              if $n > 0 then foreach f as $x ($n; . - 1; if . < 0 then $x else empty end)
              elif $n == 0 then f else error("skip doesn't support negative count") end;
            def nth($n; f):
              if $n < 0 then error("nth doesn't support negative indices") else first(skip($n; f)) end;
            def any(g; cond): isempty(first(g | cond or empty)) | not;
            def any(f): any(.[]; f);
            def any: any(.);
            def all(g; cond): isempty(first(g | cond and empty));
            def all(f): all(.[]; f);
            def all: all(.);
            def with_entries(f): to_entries | map(f) | from_entries;
            def walk(f): def w: if type == "object" then map_values(w) elif type == "array" then map(w) else . end | f; w;
            def del(f): delpaths([path(f)]);
            def paths: path(..) | select(length > 0);
            def paths(f): path(.. | select(f)) | select(length > 0);
            def leaf_paths: paths(scalars);
            def pick(f): . as $top | reduce path(f) as $p (null; setpath($p; $top | getpath($p)));
            def toarray: if type == "array" then . else [.] end;
            def combinations: if length == 0 then [] else .[0][] as $x | (.[1:] | combinations) as $w | [$x] + $w end;
            def combinations(n): . as $dot | [range(n)] | map($dot) | combinations;
            def index($i): indices($i) | .[0];
            def rindex($i): indices($i) | .[-1:][0];
            def min_by(f): _min_by(map([f]));
            def max_by(f): _max_by(map([f]));
            def sort_by(f): _sort_by(map([f]));
            def group_by(f): _group_by(map([f]));
            def unique_by(f): [group_by(f)[] | .[0]];
            def min: _min_by(.);
            def max: _max_by(.);
            def sort: _sort_by(.);
            def unique: [_group_by(.)[] | .[0]];
            def flatten: flatten(1e9);
            def ascii: [.] | implode;
            def todate: todateiso8601;
            def fromdate: fromdateiso8601;
            def test(re; mode): _match_impl(re; mode; true);
            def match(re; mode): _match_impl(re; mode; false) | .[];
            def _regex($val): $val | if type == "string" then [., null]
              elif type == "array" and length > 0 then [.[0], .[1]]
              else error(type + " not a string or array") end;
            def test($val): _regex($val) as [$re, $flags] | test($re; $flags);
            def match($val): _regex($val) as [$re, $flags] | match($re; $flags);
            def capture(re; mods): match(re; mods)
              | [.captures[] | select(.name != null) | {key: .name, value: .string}] | from_entries;
            def capture($val): _regex($val) as [$re, $flags] | capture($re; $flags);
            def scan($re; $flags): match($re; "g" + $flags)
              | if .captures | length > 0 then [.captures[].string] else .string end;
            def scan($re): scan($re; null);
            def splits($re; $flags): . as $s
              | [match($re; "g" + $flags) | .offset, .offset + .length] | [0] + . + [$s | length] | _pairs[]
              | . as [$from, $to] | $s[$from:$to];
            def splits($re): splits($re; null);
            def split($re; $flags): [splits($re; $flags)];
            def sub($re; s): _sub_impl($re; s; "");
            def sub($re; s; $flags): _sub_impl($re; s; $flags);
            def gsub($re; s): _sub_impl($re; s; "g");
            def gsub($re; s; $flags): _sub_impl($re; s; $flags + "g");
            def tostream: path(def r: (.[]? | r), .; r) as $p | getpath($p)
              | reduce path(.[]?) as $q ([$p, .]; [$p + $q]);
            def fromstream(f): {x: null, e: false} as $init
              | foreach f as $i ($init;
                  if .e then $init else . end
                  | if $i | length == 2 then setpath(["e"]; $i[0] | length == 0) | setpath(["x"] + $i[0]; $i[1])
                    else setpath(["e"]; $i[0] | length == 1) end;
                  if .e then .x else empty end);
            def truncate_stream(stream): . as $n | null | stream | . as $input
              | if (.[0] | length) > $n then setpath([0]; .[0][$n:]) else empty end;
            def INDEX(stream; f): reduce stream as $row ({}; .[$row | f | tostring] |= $row);
            def INDEX(f): INDEX(.[]; f);
            def IN(s): any(s == .; .);
            def IN(src; s): any(src == s; .);
            def JOIN($idx; f): [.[] | [., $idx[f]]];
            def JOIN($idx; stream; f): stream | [., $idx[f]];
            def JOIN($idx; stream; f; join): stream | [., $idx[f]] | join;
            def have_literal_numbers: true;
            """;

    private static final Map<String, JqFunction.Definition> DEFINED = new HashMap<>();

    static {
        JqParser.definitions(IN_JQ).forEach(DEFINED::put);
    }

    private JqBuiltins() {}

    /** Whether jq has a function of that name that expressions refuse: it reads the clock, files, or the server itself. */
    static boolean isRefused(String name) {
        return IMPURE.contains(name);
    }

    /** A call of a built-in function; null if no function has that name and number of arguments. */
    static @Nullable JqNode call(String name, List<JqNode> args) {
        String signature = name + "/" + args.size();
        JqFunction.Definition definition = DEFINED.get(signature);
        if (definition != null) {
            return new JqFunction.Call(definition, List.copyOf(args));
        }
        JqFunction.Native function = JqNatives.get(signature);
        return function == null ? null : new JqFunction.NativeCall(name, function, new ArrayList<>(args));
    }
}
