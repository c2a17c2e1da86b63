// The same from C++: rows in a std::vector, handles that free themselves, errors as exceptions.
//
//     c++ fit_vector.cpp $(pkg-config --cflags --libs vem) && ./a.out
//
#include <cstdio>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include <vem/vem.h>

namespace
{

// A handle and the function that frees it.
template <class T, void (*Free)(T *)> struct freed {
    void operator()(T *handle) const
    {
        Free(handle);
    }
};
using context = std::unique_ptr<vem_ctx, freed<vem_ctx, vem_ctx_free>>;
using data = std::unique_ptr<vem_data, freed<vem_data, vem_data_free>>;
using model = std::unique_ptr<vem_model, freed<vem_model, vem_model_free>>;

void check(const vem_ctx *ctx, vem_status status)
{
    if (status != VEM_OK)
        throw std::runtime_error(vem_ctx_message(ctx));
}

model fit(vem_ctx *ctx, const vem_data *rows, int clusters)
{
    vem_options options;
    vem_options_init(&options);
    options.clusters = clusters;
    vem_model *found = nullptr;
    check(ctx, vem_fit(ctx, rows, &options, nullptr, &found, nullptr));
    return model(found);
}

void run(vem_ctx *ctx)
{
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> values; // two heaps of 500 points, ten apart
    for (int i = 0; i < 1000; i++) {
        values.push_back(normal(random) + (i < 500 ? 0.0f : 10.0f));
        values.push_back(normal(random));
    }
    vem_data *borrowed = nullptr;
    check(ctx,
          vem_data_borrow(ctx, VEM_FLOAT32, values.data(), 1000, 2, 0, 0, &borrowed));
    const data rows(borrowed);
    const model two = fit(ctx, rows.get(), 2);
    const double *means = vem_model_means(two.get());
    for (int c = 0; c < 2; c++)
        std::printf("cluster %d: mean (%.2f, %.2f)\n", c, means[2 * c], means[2 * c + 1]);

    // What cannot be done is said: this refusal is meant.
    try {
        fit(ctx, rows.get(), 5000);
    } catch (const std::runtime_error &error) {
        std::printf("5000 clusters are refused, as they should be: %s\n", error.what());
    }
}

} // namespace

int main()
{
    vem_ctx *raw = nullptr;
    if (vem_ctx_new(&raw) != VEM_OK)
        return 1;
    const context ctx(raw);
    try {
        run(ctx.get());
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
