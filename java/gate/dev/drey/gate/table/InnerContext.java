package dev.drey.gate.table;

import java.util.Map;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.catalog.ObjectIdentifier;
import org.apache.flink.table.catalog.ResolvedCatalogTable;
import org.apache.flink.table.factories.DynamicTableFactory;

/** What the inner connector sees: the same table, with options of its own. */
final class InnerContext implements DynamicTableFactory.Context {
	private final DynamicTableFactory.Context outer;
	private final ResolvedCatalogTable table;

	InnerContext(DynamicTableFactory.Context outer, Map<String, String> options) {
		this.outer = outer;
		this.table = outer.getCatalogTable().copy(options);
	}

	@Override
	public ObjectIdentifier getObjectIdentifier() {
		return outer.getObjectIdentifier();
	}

	@Override
	public ResolvedCatalogTable getCatalogTable() {
		return table;
	}

	@Override
	public Map<String, String> getEnrichmentOptions() {
		return outer.getEnrichmentOptions();
	}

	@Override
	public ReadableConfig getConfiguration() {
		return outer.getConfiguration();
	}

	@Override
	public ClassLoader getClassLoader() {
		return outer.getClassLoader();
	}

	@Override
	public boolean isTemporary() {
		return outer.isTemporary();
	}
}
