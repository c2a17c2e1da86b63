/* Finding the number of clusters: methods that make mixtures of several numbers of them,
 * and the choice among these. */
#ifndef VEM_SELECT_SELECT_H
#define VEM_SELECT_SELECT_H

#include "fit/restarts.h"

/* A selection as its method sees it. */
typedef struct vem_i_selection {
    vem_i_restarts *fits;
    const vem_options *asked; /* of its fits, as given and prepared */
    const vem_select_options *select;
} vem_i_selection;

/* One per line of VEM_SELECT_TABLE (vem.h). */
typedef struct vem_i_select_type {
    vem_select_method kind;
    const char *
        criterion; /* what is best of the mixtures: "BIC", measured; or, of the free energy with
                              its offset (model.h), its name */
    int by_energy;   /* the latter */
    int takes_prior; /* a conjugate one */
    int64_t held;    /* clusters of a row; 0: the caller's */
    int celled;      /* cells are taken where a fit of its family would take them */
    int softens;     /* --finish soft lets rows share clusters in the last steps */
    int last;        /* not the best but what was found last is chosen */
    int lower;       /* less of it is better */
    int listed;      /* numbers of clusters can be given as a list */
    int stateless;   /* it keeps no state: no checkpoint, nothing to resume */
    /* Can it make clusters of this family? And which those are, in words. NULL: all. */
    int (*takes)(const vem_i_family *family);
    const char *families;
    int inserts; /* its path ends where nothing it tried raises F: it knows of no more clusters */
    const char *ends; /* why a path ends before the number asked for; NULL: by_energy */
    vem_i_told told;  /* how it finds them, where that is no fit as others are */
    int32_t most;     /* clusters, where the caller leaves it open; 0: by the rows */
    /* What the caller left open of the options of its fits. */
    void (*prepare)(vem_options *options);
    /* What it takes beside the fits: the mixtures of the path, and what finds them. */
    uint64_t (*bytes)(const vem_i_run *run, const vem_i_programme *programme, int32_t d);
    /* Mixtures of several numbers of clusters (at most those of fits->programme), in the
     * units of the view, into fits->path, and the one that was found last into
     * fits->model. What ends a fit early ends this: the path is what there is. */
    vem_status (*run)(vem_i_selection *selection);
} vem_i_select_type;

#define VEM_I_SELECT_TYPE(NAME, symbol, name, what)                                      \
    extern const vem_i_select_type vem_i_select_type_##symbol;
VEM_SELECT_TABLE(VEM_I_SELECT_TYPE)
#undef VEM_I_SELECT_TYPE

/* Its name, for one of the table. */
const char *vem_i_select_name(vem_select_method method);
/* Those of which something is true, as "bayes and icl". */
enum { VEM_I_METHODS = 96 };
const char *vem_i_select_names(int (*is)(const vem_i_select_type *type),
                               char text[VEM_I_METHODS]);
/* By its number; NULL: there is none. */
const vem_i_select_type *vem_i_select_type_of(int kind);

/* How many clusters are tried, where the caller may leave that open (most.c). */
int32_t vem_i_select_most(const vem_options *options, const vem_select_options *select,
                          const vem_data *data);

/* What a mass of 1 counts for. Rows of a coreset are a sample: as many as their weights
 * are worth, (sum w)^2 / sum w^2, or chance would pass for structure. */
double vem_i_select_unit(const vem_view *view, int reduced);

/* Evidence and BIC count rows by their weights, which add up to `total`: with one row or less no
 * number of clusters is better than another, and squares of sums must not overflow. */
vem_status vem_i_select_check_total(vem_i_run *run, double total, double least);

/* Likelihood, entropy and criteria of every mixture of a path, over all rows or a sample
 * of them by options->measure. The summary has what samples are sized by; `shared`:
 * nothing is chosen by them, and they are of a sample where all rows take long. */
vem_status vem_i_path_measure(vem_i_run *run, const vem_data *data, const vem_view *view,
                              const vem_options *options, int reduced,
                              const vem_summary *summary, int shared, vem_path *path);
/* The chosen mixture as the fit has measured it in the end, of more rows than the path. */
void vem_i_path_know(const vem_summary *summary, vem_path *path);
/* What the method compares of every mixture that was measured; `mass` is that of all
 * rows. */
void vem_i_path_judge(const vem_i_select_type *method, double mass, vem_path *path);

#endif
