// SPDX-License-Identifier: BSD-3-Clause
// MPI_T: categories (MPI-5.0, 15.3.9).
#include "mpi/api/tool_args.h"

using namespace patchbay;
using api::mpi_t;

namespace patchbay::api {

namespace {

// Calls `action` with the category.
template <class Action>
int with_category(int index, const Action& action) noexcept {
    return mpi_t().use([&] {
        const tool::Categories& all = mpi_t().categories;
        return is_index(all, index) ? action(all[std::size_t(index)]) : MPI_T_ERR_INVALID_INDEX;
    });
}

// As many of the elements as there is room for.
int put_elements(int index, int length, int* indices, std::vector<int> tool::Category::*list) noexcept {
    return with_category(index, [&](const tool::Category& category) {
        if (length < 0 || (indices == nullptr && length != 0)) {
            return MPI_T_ERR_INVALID;
        }
        const std::vector<int>& elements = category.*list;
        std::copy_n(elements.begin(), std::min(elements.size(), std::size_t(length)), indices);
        return MPI_SUCCESS;
    });
}

} // namespace

} // namespace patchbay::api

int PMPI_T_category_get_num(int* num_cat) {
    return mpi_t().use([&] { return api::put_size(mpi_t().categories, num_cat); });
}

int PMPI_T_category_get_index(const char* name, int* cat_index) {
    return mpi_t().use([&] { return api::put_index(mpi_t().categories, name, cat_index); });
}

int PMPI_T_category_get_info(int cat_index, char* name, int* name_len, char* desc, int* desc_len, int* num_cvars,
    int* num_pvars, int* num_categories) {
    return api::with_category(cat_index, [&](const tool::Category& category) {
        api::put_text(category.name, name, name_len);
        api::put_text(category.description, desc, desc_len);
        api::put(num_cvars, category.control_variables.size());
        api::put(num_pvars, category.performance_variables.size());
        api::put(num_categories, category.categories.size());
        return MPI_SUCCESS;
    });
}

int PMPI_T_category_get_num_events(int cat_index, int* num_events) {
    return api::with_category(
        cat_index, [&](const tool::Category& category) { return api::put_size(category.events, num_events); });
}

int PMPI_T_category_get_cvars(int cat_index, int len, int indices[]) {
    return api::put_elements(cat_index, len, indices, &tool::Category::control_variables);
}

int PMPI_T_category_get_pvars(int cat_index, int len, int indices[]) {
    return api::put_elements(cat_index, len, indices, &tool::Category::performance_variables);
}

int PMPI_T_category_get_events(int cat_index, int len, int indices[]) {
    return api::put_elements(cat_index, len, indices, &tool::Category::events);
}

int PMPI_T_category_get_categories(int cat_index, int len, int indices[]) {
    return api::put_elements(cat_index, len, indices, &tool::Category::categories);
}

int PMPI_T_category_changed(int* update_number) {
    return mpi_t().use([&] {
        if (update_number == nullptr) {
            return MPI_T_ERR_INVALID;
        }
        *update_number = mpi_t().categories.changes();
        return MPI_SUCCESS;
    });
}
