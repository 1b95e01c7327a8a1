/* The side of the application that this agent uses, on the loop's thread: what runs on a lane gets its cluster id along. */
#include "run/config/setup_side.h"
#include "run/driver_internal.h"

const char *driver_cluster_id(const struct driver *driver)
{
	return setup_cluster_id(driver->setup, driver->side);
}

const char *driver_launch_cluster_id(const struct driver *driver, const struct launch *launch)
{
	return launch->ha_cluster_id ? launch->ha_cluster_id : driver_cluster_id(driver);
}

void driver_choose_side(struct driver *driver, enum side side)
{
	driver->side = side;
	driver->life_config.ha_cluster_id = driver->setup->ha.on ? driver_cluster_id(driver) : NULL;
}
