package io.keelson.server.base.expr;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import tools.jackson.databind.JsonNode;

/** Functions of numbers. */
final class JqMath {

    private static final double LOG_2 = Math.log(2);

    private JqMath() {}

    static Map<String, JqFunction.OfValues> functions() {
        Map<String, JqFunction.OfValues> functions = new HashMap<>();
        rounding(functions);
        logarithms(functions);
        angles(functions);
        pairs(functions);
        functions.put("isinfinite/0", (in, args, budget) -> JqValue.bool(Double.isInfinite(number(in))));
        functions.put("isnan/0", (in, args, budget) -> JqValue.bool(Double.isNaN(number(in))));
        functions.put("isnormal/0", (in, args, budget) -> {
            double value = Math.abs(number(in));
            return JqValue.bool(value >= Double.MIN_NORMAL && value <= Double.MAX_VALUE);
        });
        functions.put("frexp/0", (in, args, budget) -> {
            double value = number(in);
            int exponent = value == 0 || !Double.isFinite(value) ? 0 : exponent(value) + 1;
            return JqValue.array(List.of(JqNumber.of(scaled(value, -exponent)), JqNumber.of(exponent)));
        });
        functions.put("modf/0", (in, args, budget) -> {
            double value = number(in);
            double whole = truncated(value);
            return JqValue.array(List.of(JqNumber.of(Double.isInfinite(value) ? 0 : value - whole),
                    JqNumber.of(whole)));
        });
        functions.put("fma/3", (in, args, budget) -> JqNumber.of(
                Math.fma(number(args.get(0)), number(args.get(1)), number(args.get(2)))));
        return functions;
    }

    private static double number(JsonNode value) {
        if (!value.isNumber()) {
            throw JqError.of(JqValue.shown(value) + " number required");
        }
        return JqNumber.value(value);
    }

    private static void of(Map<String, JqFunction.OfValues> into, String name, DoubleUnaryOperator function) {
        into.put(name + "/0", (in, args, budget) -> JqNumber.of(function.applyAsDouble(number(in))));
    }

    private static void whole(Map<String, JqFunction.OfValues> into, String name, DoubleUnaryOperator function) {
        into.put(name + "/0", (in, args, budget) -> in.isIntegralNumber()
                ? in
                : JqNumber.of(function.applyAsDouble(number(in))));
    }

    private static void of(Map<String, JqFunction.OfValues> into, String name, DoubleBinaryOperator function) {
        into.put(name + "/2", (in, args, budget) -> JqNumber.of(
                function.applyAsDouble(number(args.get(0)), number(args.get(1)))));
    }

    private static void rounding(Map<String, JqFunction.OfValues> into) {
        whole(into, "floor", Math::floor);
        whole(into, "ceil", Math::ceil);
        whole(into, "round", value -> Math.copySign(Math.floor(Math.abs(value) + 0.5), value));
        whole(into, "trunc", JqMath::truncated);
        whole(into, "rint", Math::rint);
        whole(into, "nearbyint", Math::rint);
        into.put("fabs/0", (in, args, budget) -> {
            number(in);
            return JqNumber.abs(in);
        });
    }

    private static double truncated(double value) {
        return value < 0 ? Math.ceil(value) : Math.floor(value);
    }

    private static int exponent(double value) {
        return value == 0 ? 0 : Math.getExponent(value * 0x1p54) - 54;
    }

    private static double scaled(double value, int by) {
        return Math.scalb(Math.scalb(value, by / 2), by - by / 2);
    }

    private static void logarithms(Map<String, JqFunction.OfValues> into) {
        of(into, "sqrt", Math::sqrt);
        of(into, "cbrt", Math::cbrt);
        of(into, "exp", Math::exp);
        of(into, "exp2", value -> Math.pow(2, value));
        of(into, "exp10", value -> Math.pow(10, value));
        of(into, "pow10", value -> Math.pow(10, value));
        of(into, "expm1", Math::expm1);
        of(into, "log", Math::log);
        of(into, "log2", JqMath::log2);
        of(into, "log10", Math::log10);
        of(into, "log1p", Math::log1p);
        of(into, "logb", value -> value == 0 ? Double.NEGATIVE_INFINITY
                : Double.isFinite(value) ? exponent(value) : Math.abs(value));
        of(into, "significand", value -> value == 0 || !Double.isFinite(value) ? value
                : scaled(value, -exponent(value)));
    }

    /** Exact for powers of two. */
    private static double log2(double value) {
        return value > 0 && Double.isFinite(value) && scaled(1, exponent(value)) == value
                ? exponent(value)
                : Math.log(value) / LOG_2;
    }

    private static void angles(Map<String, JqFunction.OfValues> into) {
        of(into, "sin", Math::sin);
        of(into, "cos", Math::cos);
        of(into, "tan", Math::tan);
        of(into, "asin", Math::asin);
        of(into, "acos", Math::acos);
        of(into, "atan", Math::atan);
        of(into, "sinh", Math::sinh);
        of(into, "cosh", Math::cosh);
        of(into, "tanh", Math::tanh);
        of(into, "asinh", value -> Math.copySign(Math.log(Math.abs(value) + Math.sqrt(value * value + 1)), value));
        of(into, "acosh", value -> Math.log(value + Math.sqrt(value * value - 1)));
        of(into, "atanh", value -> 0.5 * Math.log((1 + value) / (1 - value)));
    }

    private static void pairs(Map<String, JqFunction.OfValues> into) {
        of(into, "pow", Math::pow);
        of(into, "atan2", Math::atan2);
        of(into, "fmod", (a, b) -> a % b);
        of(into, "fmin", (a, b) -> Double.isNaN(a) ? b : Double.isNaN(b) ? a : Math.min(a, b));
        of(into, "fmax", (a, b) -> Double.isNaN(a) ? b : Double.isNaN(b) ? a : Math.max(a, b));
        of(into, "hypot", Math::hypot);
        of(into, "copysign", Math::copySign);
        of(into, "drem", Math::IEEEremainder);
        of(into, "ldexp", (a, b) -> scaled(a, (int) b));
        of(into, "scalb", (a, b) -> scaled(a, (int) b));
        of(into, "scalbln", (a, b) -> scaled(a, (int) b));
        of(into, "nextafter", Math::nextAfter);
        of(into, "nexttoward", Math::nextAfter);
    }
}
