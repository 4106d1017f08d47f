package io.keelson.api;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Constraints of the members of requests and answers, as the generated JSON Schemas contain them. */
public final class Shape {

    private Shape() {}

    /**
     * The body of a request: the server refuses members that the record does not have, and treats null as absent. A member
     * is required unless it is {@code @Nullable} or has a {@link Default}.
     */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE)
    public @interface Request {}

    /** An answer of a published contract, which gets no further members. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE)
    public @interface Closed {}

    /** A member that some answers do not have. In the others it is null if it is {@code @Nullable} and has no value. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.RECORD_COMPONENT)
    public @interface Omittable {}

    /** The value of a request's member that is absent. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.RECORD_COMPONENT)
    public @interface Default {
        /** A text as it is; a number, a boolean or an empty list as JSON. */
        String value();
    }

    /** The UUID of a resource. In a request, it may begin with the prefix of its kind. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE_USE)
    public @interface Id {}

    /** One of these words. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE_USE)
    public @interface OneOf {
        /** All words that the server sends or accepts today. */
        String[] value();
    }

    /** The JSON types of a value whose members or items are not the API's. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE_USE)
    public @interface Types {
        /** Names of JSON Schema, such as {@code object} and {@code null}. */
        String[] value();
    }

    /** Bounds of a text. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE_USE)
    public @interface Text {
        /** Least number of characters. */
        int min() default 0;

        /** Greatest number of characters; -1 if unlimited. */
        int max() default -1;

        /** Regular expression that a part of the text matches; empty if absent. */
        String pattern() default "";

        /** Name of a format; empty if absent. */
        String format() default "";

        /** Whether the server replaces characters that it cannot store, instead of refusing the text. */
        boolean cleaned() default false;
    }

    /** Bounds of a number, inclusive. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE_USE)
    public @interface Range {
        /** Least value; {@code Long.MIN_VALUE} if unlimited. */
        long min() default Long.MIN_VALUE;

        /** Greatest value; {@code Long.MAX_VALUE} if unlimited. */
        long max() default Long.MAX_VALUE;

        /** Greatest number of digits after the point; -1 if unlimited. */
        int decimals() default -1;
    }

    /** Bounds of the number of items of a list, or of the members of a map. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE_USE)
    public @interface Size {
        /** Least number. */
        int min() default 0;

        /** Greatest number; -1 if unlimited. */
        int max() default -1;
    }

    /** Greatest number of characters of a value of any JSON. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE_USE)
    public @interface MaxCharacters {
        /** Counted as written JSON. */
        int value();
    }

    /** A schema that {@code openapi.yaml} contains under this name. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE_USE)
    public @interface Ref {
        /** Name of the schema. */
        String value();
    }
}
