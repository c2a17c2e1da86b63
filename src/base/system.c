#include "base/system.h"

#include <errno.h>
#include <string.h>

vem_status vem_i_fail_system(vem_i_run *run, const char *path, const char *done,
                             int error)
{
    const vem_status status = error == ENOMEM ? VEM_NO_MEMORY : VEM_IO_ERROR;
    if (error == ENOENT)
        return vem_i_fail(run, status,
                          "%s could not be %s: there is no such file or directory.", path,
                          done);
    if (error == EACCES || error == EPERM || error == EROFS)
        return vem_i_fail(run, status, "%s could not be %s: permission denied.", path,
                          done);
    if (error == ENOSPC || error == EDQUOT)
        return vem_i_fail(run, status, "%s could not be %s: the disk is full.", path,
                          done);
    if (error == EFBIG)
        return vem_i_fail(run, status, "%s could not be %s: the file would be too large.",
                          path, done);
    char reason[128];
    return vem_i_fail(run, status, "%s could not be %s: %s.", path, done,
                      strerror_r(error, reason, sizeof reason));
}
