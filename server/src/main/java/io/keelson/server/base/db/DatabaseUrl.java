package io.keelson.server.base.db;

import io.keelson.server.base.db.DatabaseException.Code;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The address and credentials of a PostgreSQL database. Its text form never shows the password.
 *
 * @param hosts      {@code host}, {@code host:port}, or several with commas between
 * @param database   the database's name
 * @param user       null for the driver's default
 * @param password   null where the server wants none
 * @param parameters further parameters of the PostgreSQL JDBC driver as {@code a=b&c=d}, such as {@code sslmode}
 */
public record DatabaseUrl(String hosts, String database, @Nullable String user, @Nullable String password,
        String parameters) {

    private static final Pattern FORM = Pattern.compile(
            "(?:jdbc:)?postgres(?:ql)?://(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?"
                    + "(?<hosts>[^@/?]+)/(?<database>[^/?]+)(?:\\?(?<parameters>.*))?");

    /**
     * Reads {@code postgresql://user:password@host:port/database?parameters} or the JDBC form, where user and password
     * may stand among the parameters. Special characters are percent-encoded.
     *
     * @throws DatabaseException DATABASE_URL_INVALID
     */
    public static DatabaseUrl parse(String text) {
        Matcher matcher = FORM.matcher(text.strip());
        if (!matcher.matches()) {
            throw new DatabaseException(Code.DATABASE_URL_INVALID, "The database URL is not of the form"
                    + " postgresql://user:password@host:port/database (special characters percent-encoded).");
        }
        try {
            String user = decode(matcher.group("user"));
            String password = decode(matcher.group("password"));
            List<String> parameters = new ArrayList<>();
            for (String parameter : String.valueOf(matcher.group("parameters")).split("&")) {
                if (parameter.startsWith("user=")) {
                    user = decode(parameter.substring("user=".length()));
                } else if (parameter.startsWith("password=")) {
                    password = decode(parameter.substring("password=".length()));
                } else if (parameter.contains("=")) {
                    parameters.add(parameter);
                }
            }
            return new DatabaseUrl(matcher.group("hosts"), String.valueOf(decode(matcher.group("database"))), user,
                    password, String.join("&", parameters));
        } catch (IllegalArgumentException e) {
            throw new DatabaseException(Code.DATABASE_URL_INVALID,
                    "The database URL holds a '%' that encodes no character; write a plain '%' as %25.");
        }
    }

    /** The URL of another database on this server, with this user. */
    public DatabaseUrl withDatabase(String other) {
        return new DatabaseUrl(hosts, other, user, password, parameters);
    }

    /** The URL of this database on another server. */
    DatabaseUrl withHosts(String others) {
        return new DatabaseUrl(others, database, user, password, parameters);
    }

    /** The URL for the driver, without user and password. */
    public String jdbc() {
        String name = URLEncoder.encode(database, StandardCharsets.UTF_8).replace("+", "%20");
        return "jdbc:postgresql://" + hosts + "/" + name + (parameters.isEmpty() ? "" : "?" + parameters);
    }

    /** User and password as the driver wants them. */
    public Properties credentials() {
        var properties = new Properties();
        if (user != null) {
            properties.setProperty("user", user);
        }
        if (password != null) {
            properties.setProperty("password", password);
        }
        return properties;
    }

    /**
     * Checks that a server could use the database.
     *
     * @throws DatabaseException as {@link Database#Database}
     */
    public void requireUsable() {
        DatabaseRequirements.check(this, credentials());
    }

    /** One connection that the caller closes. Its statements have no limit of time, even if the user or the database has. */
    public Connection connect() throws SQLException {
        Connection connection = connect(credentials());
        try (Statement statement = connection.createStatement()) {
            statement.execute(DatabaseOptions.UNLIMITED.sessionSql());
            return connection;
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
    }

    /** One connection with these properties of the driver, user and password among them. */
    Connection connect(Properties properties) throws SQLException {
        return DriverManager.getConnection(jdbc(), properties);
    }

    @Override
    public String toString() {
        return "postgresql://" + hosts + "/" + database;
    }

    private static @Nullable String decode(@Nullable String text) {
        return text == null ? null : URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    }
}
