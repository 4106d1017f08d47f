package io.keelson.server.http;

/** Who looks at the API from outside. Called on the thread of the request: count, or hand over. */
public interface Exchanges {

    /** Nobody looks. */
    Exchanges NONE = new Exchanges() {};

    /**
     * A request was answered.
     *
     * @param route its template; {@code unmatched} where no route has the path
     * @param nanos from its head to the end of its answer; what is held open on purpose included
     */
    default void answered(String method, String route, int status, long nanos) {}

    /** A request was refused with the error code. */
    default void refused(String code) {}
}
