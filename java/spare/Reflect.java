package drey.spare;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/**
 * What has no public way. A name that this version of Flink does not have is said in one sentence: then there is no spare, and
 * the ordinary start is not concerned.
 */
final class Reflect {
	private Reflect() {}

	static Class<?> type(String name) {
		try {
			return Class.forName(name);
		} catch (ClassNotFoundException e) {
			throw missing("class " + name, e);
		}
	}

	static Method method(Class<?> of, String name, Class<?>... parameters) {
		for (Class<?> at = of; at != null; at = at.getSuperclass()) {
			try {
				return open(at.getDeclaredMethod(name, parameters));
			} catch (NoSuchMethodException e) {
				// the next one may have it
			}
		}
		try {
			return of.getMethod(name, parameters);
		} catch (NoSuchMethodException e) {
			throw missing("method " + of.getName() + "." + name + "()", e);
		}
	}

	static Constructor<?> constructor(Class<?> of, Class<?>... parameters) {
		try {
			return open(of.getDeclaredConstructor(parameters));
		} catch (NoSuchMethodException e) {
			throw missing("constructor of " + of.getName(), e);
		}
	}

	static Field field(Class<?> of, String name) {
		try {
			return open(of.getDeclaredField(name));
		} catch (NoSuchFieldException e) {
			throw missing("field " + of.getName() + "." + name, e);
		}
	}

	static Object call(String type, String name, Object on, Class<?>[] parameters, Object... arguments) throws Exception {
		return invoke(method(type(type), name, parameters), on, arguments);
	}

	/** With the exception that the method throws, and not one around it. */
	static Object invoke(Method method, Object on, Object... arguments) throws Exception {
		try {
			return method.invoke(on, arguments);
		} catch (InvocationTargetException e) {
			if (e.getCause() instanceof Exception) {
				throw (Exception) e.getCause();
			}
			throw e;
		}
	}

	private static <T extends AccessibleObject> T open(T member) {
		member.setAccessible(true);
		return member;
	}

	private static IllegalStateException missing(String what, Exception e) {
		return new IllegalStateException("this version of Flink has no " + what + " as the spare needs it", e);
	}
}
