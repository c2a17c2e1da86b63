#include "em/posterior.h"

#include <string.h>

#include "base/memory.h"

static int soft(const vem_i_search_spec *search)
{
    return !search->dense && search->held > 1;
}

vem_status vem_i_posterior_new(vem_i_run *run, const vem_view *view,
                               const vem_i_search_spec *search,
                               vem_i_posterior *posterior)
{
    vem_i_posterior made = {.n = view->n, .width = vem_i_search_width(search)};
    size_t items = (size_t)view->n, width = (size_t)made.width;
    vem_status status = vem_i_take(run, &made.held, items, width * sizeof(int32_t));
    if (status == VEM_OK && soft(search))
        status = vem_i_take(run, &made.q, items, width * view->kernels->element);
    if (status == VEM_OK)
        *posterior = made;
    else
        vem_i_posterior_free(&made);
    return status;
}

void vem_i_posterior_free(vem_i_posterior *posterior)
{
    vem_i_free(posterior->held);
    vem_i_free(posterior->q);
    vem_i_free(posterior->next);
    vem_i_free(posterior->gap);
    memset(posterior, 0, sizeof *posterior);
}

void vem_i_posterior_start(vem_i_posterior *posterior, const int32_t *labels)
{
    int32_t width = posterior->width;
    for (int64_t i = 0; i < posterior->n; i++)
        for (int32_t r = 0; r < width; r++)
            posterior->held[i * width + r] = r == 0 ? labels[i] : -1;
    posterior->known = 1;
}

vem_status vem_i_posterior_look_further(vem_i_run *run, const vem_view *view,
                                        vem_i_posterior *posterior)
{
    size_t items = (size_t)view->n;
    vem_status status = vem_i_take(run, &posterior->next, items, sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(run, &posterior->gap, items, view->kernels->element);
    return status;
}

static int same_set(const int32_t *before, const int32_t *now, int64_t stride,
                    int32_t width)
{
    for (int32_t a = 0; a < width; a++) {
        int32_t b = 0;
        while (b < width && before[a] != now[b * stride])
            b++;
        if (b == width)
            return 0;
    }
    return 1;
}

/* Each item of the block holds one cluster, has mass 1 and lies beside the one before it. */
static int32_t store_plain(vem_i_posterior *posterior, const vem_i_block *block,
                           const int32_t *found)
{
    int32_t *held = posterior->held + block->first, changed = 0;
    for (int32_t p = 0; posterior->known && p < block->n; p++)
        changed += held[p] != found[p];
    memcpy(held, found, (size_t)block->n * sizeof *held);
    return posterior->known ? changed : block->n;
}

int32_t vem_i_posterior_store(vem_i_posterior *posterior, const vem_i_block *block)
{
    int32_t width = posterior->width, changed = 0;
    int64_t ldv = block->capacity;
    const int32_t *found = block->nearest ? block->nearest : block->index;
    if (width == 1 && !posterior->q && !block->items.index && !block->view->mass)
        return store_plain(posterior, block, found);
    for (int32_t p = 0; p < block->n; p++) {
        int64_t item = vem_i_block_item(block, p);
        int32_t *held = posterior->held + item * width;
        /* An item without mass is as good as absent: it must not keep a fit going. */
        if (vem_i_view_mass(block->view, item) > 0 &&
            (!posterior->known || !same_set(held, found + p, ldv, width)))
            changed++;
        for (int32_t r = 0; r < width; r++)
            held[r] = found[r * ldv + p];
        if (posterior->q && block->view->kernels->precision == VEM_SINGLE)
            for (int32_t r = 0; r < width; r++)
                ((float *)posterior->q)[item * width + r] =
                    ((const float *)block->costs)[r * ldv + p];
        else if (posterior->q)
            for (int32_t r = 0; r < width; r++)
                ((double *)posterior->q)[item * width + r] =
                    ((const double *)block->costs)[r * ldv + p];
    }
    return changed;
}

vem_status vem_i_first_held_new(vem_i_run *run, int64_t items, int32_t **labels)
{
    return vem_i_take(run, labels, (size_t)items, sizeof **labels);
}
