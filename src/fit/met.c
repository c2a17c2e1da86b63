#include "fit/met.h"

#include <string.h>

#include "base/record.h"

void vem_i_met_begin(vem_i_met *met)
{
    met->earlier = met->count;
}

/* Of what each item holds first, with clusters numbered as they come: their own numbers say nothing. */
static uint64_t digest_of(int stage, const vem_i_em *em)
{
    enum { BLOCK = 256 };
    const vem_i_posterior *p = &em->posterior;
    signed char number[VEM_I_MET_CLUSTERS], block[BLOCK];
    signed char next = 0;
    uint64_t digest = vem_i_mix(0, &stage, sizeof stage);
    memset(number, -1, sizeof number);
    for (int64_t i = 0; i < em->view->n; i += BLOCK) {
        const int64_t n = em->view->n - i < BLOCK ? em->view->n - i : BLOCK;
        for (int64_t k = 0; k < n; k++) {
            const int32_t held = p->held[(i + k) * p->width];
            if (held >= 0 && number[held] < 0)
                number[held] = next++;
            block[k] = held < 0 ? -1 : number[held];
        }
        digest = vem_i_mix(digest, block, (size_t)n);
    }
    return digest;
}

int vem_i_met_before(vem_i_met *met, int stage, const vem_i_em *em)
{
    if (em->model->clusters > VEM_I_MET_CLUSTERS)
        return 0;
    const uint64_t digest = digest_of(stage, em);
    for (int k = 0; k < met->earlier; k++)
        if (met->digests[k] == digest)
            return 1;
    if (met->count < VEM_I_MET_MOST)
        met->digests[met->count++] = digest;
    return 0;
}
