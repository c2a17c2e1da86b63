/* How rows move between neighbouring mixtures of a path. */
#ifndef VEM_SELECT_FLOWS_H
#define VEM_SELECT_FLOWS_H

#include "data/data.h"
#include "model/flows.h"

/* Of a sample of the rows; 0 mixtures or rows: as many as serve. */
vem_status vem_i_path_flows(vem_i_run *run, const vem_path *path, const vem_data *data,
                            const vem_flow_options *options, vem_flows **flows);

#endif
